"""The tasks of several words, written down again from the text alone: translation, questions on stories, summaries.

German numbers are made here by another rule than in the task: of the digits, as one word without gaps.
"""

ONES = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
ENGLISH_ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
                "seventeen eighteen nineteen").split()  # fmt: skip
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ENGLISH_DAYS = ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
                "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth").split()  # fmt: skip
ENGLISH_MONTHS = ("january february march april may june july august september october november december").split()
GERMAN_MONTHS = ("Januar Februar März April Mai Juni Juli August September Oktober November Dezember").split()
IRREGULAR_DAYS = {1: "erste", 3: "dritte", 7: "siebte", 8: "achte"}


def german_number(value: int) -> str:
    """A number below 1,000 as one German word, as it is written."""
    word = f"{ONES[value // 100]}hundert" if value >= 100 else ""
    rest = value % 100
    if rest == 1:
        word += "eins"
    elif 0 < rest < 13:
        word += ONES[rest]
    elif 13 <= rest < 20:
        word += ONES[rest - 10].removesuffix("s" if rest == 16 else "").removesuffix("en" if rest == 17 else "")
        word += "zehn"
    elif rest:
        word += f"{ONES[rest % 10]}und" if rest % 10 else ""
        word += TENS[rest // 10 - 2]
    return word


def german_day(day: int) -> str:
    """The ordinal of a day of the month as one German word: -te up to 19, -ste from 20 on."""
    return IRREGULAR_DAYS.get(day) or german_number(day) + ("te" if day < 20 else "ste")


def english_number(words: list[str]) -> int:
    """The number below 1,000 that these words say."""
    if "hundred" in words:
        assert words[1] == "hundred"
        rest = words[2:]
        assert not rest or rest[0] == "and"
        return 100 * ENGLISH_ONES.index(words[0]) + (english_number(rest[1:]) if rest else 0)
    if words[0] in ENGLISH_ONES:
        assert len(words) == 1
        return ENGLISH_ONES.index(words[0])
    ten = 20 + 10 * ENGLISH_TENS.index(words[0])
    return ten + (ENGLISH_ONES.index(words[1]) if words[1:] else 0)


def english_day(words: list[str]) -> int:
    """The day of the month that these words say."""
    if words[0] == "thirtieth":
        return 30
    if len(words) == 2:
        return 20 + 10 * ENGLISH_TENS.index(words[0]) + 1 + ENGLISH_DAYS.index(words[1])
    return 1 + ENGLISH_DAYS.index(words[0])


def german(words: list[str]) -> str:
    """The German of a number or a date, with compounds as one word."""
    if not set(words) & set(ENGLISH_MONTHS):
        return german_number(english_number(words))
    is_on, words = words[0] == "on", [word for word in words if word not in ("on", "the", "of")]
    (month,) = (number for number, name in enumerate(ENGLISH_MONTHS) if name in words)
    day = german_day(english_day([word for word in words if word != ENGLISH_MONTHS[month]]))
    return f"am {day}n {GERMAN_MONTHS[month]}" if is_on else f"der {day} {GERMAN_MONTHS[month]}"


def answer_of(words: list[str]) -> tuple[int, int]:
    """First and last place of the answer to the question with which these words begin."""
    text = " ".join(words)
    question, _, story = text.partition("? ")
    sentences = [f"{sentence} ." for sentence in story.split(" .") if sentence.strip()]
    thing = question.split()[3]
    last = max(number for number, sentence in enumerate(sentences) if f" the {thing} " in sentence)
    begin = len(question.split()) + 1 + sum(len(sentence.split()) for sentence in sentences[:last])
    of_sentence = sentences[last].split()
    if question.startswith("who"):
        return begin, begin
    return begin + of_sentence.index("to") + 2, begin + len(of_sentence) - 2


def summary_of(words: list[str]) -> list[str]:
    """The sentence after the mark, with its stop."""
    begin = words.index("note") + 1
    return words[begin : words.index(".", begin) + 1]
