"""A page of no app with each of Streamlit's elements that the app or a test looks for by a name of Streamlit's.

test_streamlit_dom.py opens it: `streamlit run tests/browser/parts_of_streamlit.py`.
"""

import time

import streamlit as st


def first() -> None:
    """Draw all elements, each in a container with a key of ours, as the app does."""
    st.sidebar.markdown("sidebar’s text")
    st.dataframe({"a": [1, 2]}, key="table_a", on_select="rerun")
    with st.container(horizontal=True, key="tabs"):
        st.button("tab", key="_view_a", type="primary")
        st.button("other tab", key="_view_b", type="tertiary", icon=":material/check:")
    with st.container(horizontal=True, key="line_a"):
        st.selectbox("list", ["a", "b"], key="list")
        st.number_input("number", 0, 9999, key="number")
        st.toggle("switch", key="switch")
        st.segmented_control("segments", ["segment a", "segment b"], key="segments", label_visibility="collapsed")
    with st.container(key="more_a"):
        st.text_area("long text", key="long")
        st.text_input("short text", key="short")
        st.file_uploader("upload", key="file")
    with st.container(key="facts"):
        st.popover("menu", key="_facts").html("<p>in the menu</p>")
    with st.container(key="columns_0"):
        for number, column in enumerate(st.columns(2)):
            column.container(border=True, key=f"panel_{number}").html("<p>panel</p>")
    with st.container(key="formulas"):
        st.latex("x^2")
    with st.container(key="alerts"):
        st.warning("alert’s text")
        st.expander("more").markdown("unfolded")
    st.progress(0.5, "progress’s words")
    st.page_link(SECOND, label="link to a page")
    st.text("plain text")
    st.skeleton()
    COMPONENT(key="component")
    with st.container(key="running"):
        if st.button("Wait", key="wait"):
            with st.spinner("spinner’s text"):
                time.sleep(30)
    st.html("<p>the last</p>" * 60)
    raise ValueError("an error")


def second() -> None:
    """Draw another page, so that there are links to pages."""


COMPONENT = st.components.v2.component("part", html="<p>component</p>")
FIRST, SECOND = st.Page(first, title="First"), st.Page(second, title="Second")
MORE = [st.Page(second, title=f"Further page {number}", url_path=f"further_{number}") for number in range(1, 17)]
st.navigation([FIRST, SECOND, *MORE], position="top").run()
