"""What the benchmarks and the browser tests share: a running page, a real Chromium, and a clock inside it."""
