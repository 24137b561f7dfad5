"""The server that runs: which tabs are open, and how much it keeps of the files that they have uploaded."""

from collections.abc import Mapping

from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager


def is_open(session: str) -> bool:
    """Whether the tab of this session is open: a job ends soon after the last tab that waits for it."""
    return Runtime.exists() and Runtime.instance().is_active_session(session)


def uploaded_bytes() -> Mapping[str, int]:
    """Session -> the size of the uploaded files that Streamlit keeps for it, in bytes: for limits on memory."""
    if not Runtime.exists():
        return {}
    store = Runtime.instance().uploaded_file_mgr
    assert isinstance(store, MemoryUploadedFileManager)
    return {session: sum(len(file.data) for file in files.values()) for session, files in store.file_storage.items()}
