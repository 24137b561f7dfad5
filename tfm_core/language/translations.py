"""One short text in five languages, to be cut by tokenizers: our own sentences, and our own translations of them."""

from collections.abc import Mapping

ORIGIN = "written and translated for this project"
TRANSLATIONS: Mapping[str, str] = {
    "English": "Every morning the child drinks a glass of water. The water is cold.",
    "German": "Jeden Morgen trinkt das Kind ein Glas Wasser. Das Wasser ist kalt.",
    "Arabic": "يشرب الطفل كوبًا من الماء كل صباح. الماء بارد.",
    "Thai": "ทุกเช้าเด็กดื่มน้ำหนึ่งแก้ว น้ำเย็น",
    "Chinese": "孩子每天早上喝一杯水。水很冷。",
}
