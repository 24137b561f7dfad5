"""All that is used of Streamlit without a promise is there."""

from tests.tfm_ui.streamlit_private import missing


def test_nothing_is_missing():
    gone = missing.missing()
    assert not gone, f"this Streamlit lacks {len(gone)} things that are used:\n" + "\n".join(gone)


def test_what_is_missing_is_told(monkeypatch):
    gone = {
        "streamlit.gone:Thing": "for a module",
        "streamlit.runtime:Runtime.gone": "for a method",
        "streamlit.proto.BackMsg_pb2:BackMsg.gone": "for a field",
    }
    there = {
        "streamlit.runtime:Runtime.exists": "",
        "streamlit.proto.BackMsg_pb2:BackMsg.rerun_script": "",
        "streamlit.runtime.scriptrunner:ScriptRunContext.session_id": "",
    }
    monkeypatch.setattr(missing, "USED", gone | there)
    assert missing.missing() == [f"{name}: {what}" for name, what in gone.items()]
