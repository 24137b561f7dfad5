# The app, without CUDA. `docker build --tag attention-lab .`; docs/hosting.md says how to run it.

# A tag can change what it names; `hosting/pin_images` tells the digest, to be given in its place.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS packages
# `--build-arg TRANSFORMERS=yes` installs that library, too, which the hosted preset does not load.
ARG TRANSFORMERS=
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /tmp
COPY locks ./locks
# torch from the index of builds without CUDA: the usual build brings gigabytes that the app does not use.
RUN pip install --no-cache-dir --require-hashes --requirement locks/app.txt \
    ${TRANSFORMERS:+--requirement locks/transformers.txt} \
    && pip install --no-cache-dir --require-hashes --no-deps --index-url https://download.pytorch.org/whl/cpu \
    --requirement locks/torch-cpu.txt

FROM packages AS parts
RUN python -m venv /opt/tools \
    && /opt/tools/bin/pip install --no-cache-dir --require-hashes --requirement locks/sbom.txt \
    && /opt/tools/bin/cyclonedx-py environment --output-file sbom.cdx.json /opt/venv/bin/python

FROM ${PYTHON_IMAGE}
# Trained runs are kept in a volume, which belongs to the user that the app runs as.
RUN useradd --create-home --uid 1000 lab && mkdir /home/lab/runs && chown lab: /home/lab/runs
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY --from=parts /tmp/sbom.cdx.json ./
COPY .streamlit ./.streamlit
COPY assets ./assets
COPY locks ./locks
COPY pages ./pages
COPY tfm_core ./tfm_core
COPY tfm_ui ./tfm_ui
COPY app.py ./
# The user of the app cannot write here, so that the files are compiled now.
RUN python -m compileall -q app.py pages tfm_core tfm_ui
ENV PATH=/opt/venv/bin:$PATH ATTENTION_LAB_RUNS=/home/lab/runs
# So that glibc gives freed memory back at once: docs/hosting.md, "Memory".
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_TRIM_THRESHOLD_=16777216
USER 1000
VOLUME /home/lab/runs
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/live', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address=0.0.0.0"]
