"""The exercises of code: solutions are right, blanks are missed readably, and what people write wrong is named."""

import ast
import inspect
import linecache

import pytest
import torch

from tests.tfm_core.checks.blanks import NAMED, exchanged
from tfm_core import checks
from tfm_core.checks.exercises import EXERCISES, check_exercise
from tfm_core.checks.exercises.beside import Beside, Slip, of_piece
from tfm_core.checks.exercises.coding import Coding, blank_left
from tfm_core.study.mistakes import MISTAKES

BLANKS = [(name, place) for name, coding in EXERCISES.items() for place in range(len(coding.blanks))]
BESIDE = {name: coding.check for name, coding in EXERCISES.items() if isinstance(coding.check, Beside)}


def made(name, code):
    """What the code of an exercise defines, run as a notebook runs it: nothing of this library is in scope."""
    scope = {"__name__": "__main__"}
    exec(compile(code, name, "exec"), scope)
    return scope[EXERCISES[name].called]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_is_right(name):
    report = check_exercise(name, EXERCISES[name].solution)
    assert report.ok, report
    assert check_exercise(name, made(name, EXERCISES[name].filled)).ok


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_is_right_for_other_numbers(name):
    check = EXERCISES[name].check
    check = getattr(checks, check) if isinstance(check, str) else check
    if isinstance(check, Beside) or "seed" in inspect.signature(check).parameters:
        assert check(EXERCISES[name].solution, seed=5).ok


@pytest.mark.parametrize("name", EXERCISES)
def test_its_texts_say_what_is_to_be_written(name):
    coding = EXERCISES[name]
    assert 1 <= len(coding.blanks) <= 5
    assert all(blank.hint and not blank.hint.endswith(".") for blank in coding.blanks)
    assert len(coding.title) <= 40
    assert coding.task.endswith(".")
    assert "blank" not in coding.filled
    assert coding.code().count("...  # ") == len(coding.blanks)
    assert max(map(len, coding.code().splitlines())) <= 130


@pytest.mark.parametrize("name", EXERCISES)
def test_with_blanks_it_is_python_that_differs_from_the_solution_in_the_blanks_alone(name):
    coding = EXERCISES[name]
    ast.parse(coding.code())
    assert coding.code() != coding.filled
    again = exchanged(coding, {place: _right_side(coding, place) for place in range(len(coding.blanks))})
    assert ast.dump(ast.parse(again)) == ast.dump(ast.parse(coding.filled))


def _right_side(coding, place):
    """What stands in a blank of the solution."""
    blank = coding.blanks[place]
    statement = "\n".join(inspect.getsource(coding.solution).rstrip().splitlines()[blank.first : blank.last + 1])
    [node] = ast.parse(f"def f():\n    {statement.strip()}").body[0].body
    return ast.unparse(node.value)


@pytest.mark.parametrize(("name", "place"), BLANKS)
def test_a_blank_is_missed_in_words(name, place):
    report = check_exercise(name, made(name, EXERCISES[name].code([place])))
    assert not report.ok
    assert "still to be filled in" in str(report) or "got no tensor" in str(report)
    assert "Traceback" not in str(report)


@pytest.mark.parametrize("name", EXERCISES)
def test_all_blanks_are_missed_in_words(name):
    report = check_exercise(name, made(name, EXERCISES[name].code()))
    assert not report.ok
    assert len(str(report).splitlines()) <= 6


def typed(name, code):
    """What the code of an exercise defines, typed into a cell: its text is known, as in a notebook."""
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    scope = {"__name__": "__main__"}
    exec(compile(code, file, "exec"), scope)
    return scope[EXERCISES[name].called]


@pytest.mark.parametrize(("name", "place"), BLANKS[::4])
def test_a_blank_in_a_cell_is_told_with_its_line(name, place):
    code = EXERCISES[name].code([place])
    [line] = [line for line in code.splitlines() if "...  # " in line]
    report = check_exercise(name, typed(name, code))
    assert report.in_short == f"Not filled in yet: line {code.splitlines().index(line) + 1}, {line.strip()}"
    assert f"not filled in yet.\nLine {code.splitlines().index(line) + 1}, {line.strip()}" in str(report)
    assert not report


@pytest.mark.parametrize("name", EXERCISES)
def test_a_solution_in_a_cell_has_no_blank_left(name):
    assert blank_left(typed(name, EXERCISES[name].filled)) == ""


def test_an_exception_is_told_with_the_line_that_raised_it():
    """No step is blamed: the line is, which is the learner’s own and not torch’s."""
    line = "scores = query @ key / math.sqrt(query.shape[-1])"
    code = EXERCISES["attention"].filled.replace("query @ key.mT", "query @ key")
    report = check_exercise("attention", typed("attention", code))
    assert report.in_short == "Not right yet: the report says more."
    assert f"Line {[each.strip() for each in code.splitlines()].index(line) + 1} of the code: {line}" in str(report)
    assert "first step" not in str(report)
    code = EXERCISES["scores"].filled.replace("key.mT", "key")
    assert "of the code: products = query @ key" in str(check_exercise("scores", typed("scores", code)))


def test_where_only_the_result_is_compared_no_earlier_step_is_said_to_be_right():
    code = EXERCISES["attention"].filled.replace("query.shape[-1]", "query.shape[-2]")
    report = str(check_exercise("attention", typed("attention", code)))
    assert "not right. What differs: head outputs." in report
    assert "the fault may lie in any step before" in report
    named = EXERCISES["attention"].filled.replace(" / math.sqrt(query.shape[-1])", "")
    report = str(check_exercise("attention", typed("attention", named)))
    assert "The first step that differs: scores." in report
    assert "any step before" not in report
    assert check_exercise("softmax", lambda scores: scores.softmax(-1)).in_short == ""


@pytest.mark.parametrize(("name", "place", "written", "told"), NAMED)
def test_what_people_write_wrong_is_named(name, place, written, told):
    report = check_exercise(name, made(name, exchanged(EXERCISES[name], {place: written})), hint=True)
    assert not report.ok
    assert report.mistake == told if told in MISTAKES else told in str(report), report
    assert "Cure:" in str(report)


CONVENTIONS = {  # what others' code may return in place of what the task says
    "True = hidden": lambda made: ~made if made.dtype == torch.bool else made,
    "1 = may attend": lambda made: made.float() if made.dtype == torch.bool else made,
    "added to the scores": lambda made: (
        torch.zeros(made.shape).masked_fill(~made, -torch.inf) if made.dtype == torch.bool else made
    ),
    "columns for rows": lambda made: made.mT if made.dim() > 1 else made,
    "with one more axis": lambda made: made[None],
    "the other sign": lambda made: made if made.dtype == torch.bool else -made,
}


def calls_of(coding):
    return (coding.fixed or coding.check).calls(torch.Generator().manual_seed(1))


def differs(coding, convention):
    """Whether a solution's result is another in this convention; of a class, the sign alone is tried."""
    if isinstance(coding.solution, type):
        return convention == "the other sign"
    calls, other = calls_of(coding), converted(coding.solution, CONVENTIONS[convention])
    return not all(same(other(*call), coding.solution(*call)) for call in calls)


def same(made, other):
    parts = [each if isinstance(each, tuple) else (each,) for each in (made, other)]
    return all(
        a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
        for a, b in zip(*parts, strict=True)
    )


def converted(solution, convert):
    """The solution with what it returns in another convention."""

    def of(made):
        if isinstance(made, tuple):
            return tuple(map(of, made))
        return convert(made) if isinstance(made, torch.Tensor) else made

    if not isinstance(solution, type):
        return lambda *call: of(solution(*call))
    return type(solution.__name__, (solution,), {"forward": lambda self, *call: of(solution.forward(self, *call))})


@pytest.mark.parametrize(
    ("name", "convention"),
    [(n, each) for n, coding in EXERCISES.items() for each in CONVENTIONS if differs(coding, each)],
)
def test_a_result_in_another_convention_than_the_task_says_is_refused(name, convention):
    report = check_exercise(name, converted(EXERCISES[name].solution, CONVENTIONS[convention]))
    assert not report.ok
    assert convention != "True = hidden" or report.mistake == "mask inverted"
    assert convention != "True = hidden" or "cannot be told" not in str(report)


def test_each_exercise_has_another_convention_that_is_refused():
    numbers = {name for name, coding in EXERCISES.items() if not any(differs(coding, each) for each in CONVENTIONS)}
    assert numbers == {"count-parameters"}


READS_MASK = ["attention", "multi-head-attention", "encoder-layer", "decoder-layer", "mean-of-tokens"]


def test_these_are_the_exercises_that_read_a_mask():
    reads = [
        name
        for name, coding in EXERCISES.items()
        if any(
            isinstance(each, torch.Tensor) and each.dtype == torch.bool for call in calls_of(coding) for each in call
        )
    ]
    assert sorted(reads) == sorted(READS_MASK)


@pytest.mark.parametrize("name", READS_MASK)
def test_code_that_reads_a_mask_in_another_convention_is_refused(name):
    solution = EXERCISES[name].solution

    def inverted(*call):
        return [~each if isinstance(each, torch.Tensor) and each.dtype == torch.bool else each for each in call]

    if isinstance(solution, type):

        class Other(solution):
            def forward(self, x, *masks):
                return super().forward(x, *inverted(*masks))

        assert not check_exercise(name, Other).ok
    else:
        assert not check_exercise(name, lambda *call: solution(*inverted(*call))).ok


def test_norms_stand_where_the_task_says():
    """The checks of other people's layers take both kinds."""
    after = {0: "x", 1: "self.norm_1(x + self.attention(x, x, mask))", 2: "self.norm_2(x + self.feed_forward(x))"}
    code = made("encoder-layer", exchanged(EXERCISES["encoder-layer"], after))
    assert checks.check_encoder_layer(code)
    report = check_exercise("encoder-layer", code)
    assert not report.ok
    assert "The task asks for a pre-norm layer" in str(report)
    before = {
        1: "x + self.self_attention(self.norm_1(x), self.norm_1(x), causal)",
        2: "x + self.cross_attention(self.norm_2(x), memory, memory_mask)",
        3: "x + self.feed_forward(self.norm_3(x))",
    }
    code = made("decoder-layer", exchanged(EXERCISES["decoder-layer"], before))
    assert checks.check_decoder_layer(code)
    assert "The task asks for a norm after each sub-layer" in str(check_exercise("decoder-layer", code))


def test_what_its_own_modules_do_is_compared_too():
    """A class whose modules have other names cannot be compared with the solution, and is told so."""
    coding = EXERCISES["multi-head-attention"]
    code = made("multi-head-attention", coding.filled.replace("w_q", "query_map"))
    assert checks.check_multi_head_attention(code)
    assert "with the modules of __init__ as they are" in str(check_exercise("multi-head-attention", code))
    assert check_exercise("multi-head-attention", code(12, 3)).ok  # a module that is made already


def test_mistakes_are_named_in_most_exercises():
    assert len({name for name, *_ in NAMED}) >= 0.8 * len(EXERCISES)


@pytest.mark.parametrize("name", BESIDE)
def test_each_known_mistake_is_told_from_right_and_from_the_others(name):
    check = BESIDE[name]
    assert set(check.mistakes) <= set(MISTAKES)
    for mistake, computed in check.mistakes.items():
        report = check(_plainly(computed))
        assert not report.ok
        assert mistake in (report.mistake, *report.equal), (mistake, report)
    texts = []
    for slip in check.slips:
        report = check(_plainly(slip.computed), hint=True)
        assert not report.ok
        assert slip.about in str(report), (slip.about, report)
        texts.append((slip.about, slip.cure))
    assert all(text.endswith(".") for pair in texts for text in pair)


def _plainly(computed):
    return lambda *call: computed(*call)


def test_what_is_no_code_is_refused():
    with pytest.raises(ValueError, match="expected a function softmax"):
        check_exercise("softmax", 3)
    with pytest.raises(ValueError, match=r"expected one of projection, scores.*got 'sofmax'"):
        check_exercise("sofmax", torch.softmax)


def test_other_numbers_without_a_known_mistake_are_told_too():
    report = check_exercise("softmax", lambda scores: scores.softmax(-1) * 1.01)
    assert not report.ok
    assert "No mistake of the catalogue gives these numbers." in str(report)
    assert 0 < report.largest_difference < 0.011


def test_code_may_not_change_what_it_is_given():
    """Each call gets its own tensors: who works in place changes only these."""

    def in_place(scores):
        scores -= scores.amax(-1, keepdim=True)
        scores.exp_()
        return scores / scores.sum(-1, keepdim=True)

    assert check_exercise("softmax", in_place).ok


def test_pieces_are_adapted_by_name():
    assert set(of_piece("embed")) == {"embedding not scaled", "embedding scaled twice"}


def marked(x):
    """A function whose blanks are of every kind."""
    # blank: twice x,
    # over two lines
    twice = (
        x
        + x
    )  # fmt: skip
    # blank: one more
    twice += 1
    # blank: typed
    typed: int = twice
    return typed


def empty(x):
    """A function whose blank is no assignment."""
    # blank: nothing
    print(x)  # noqa: T201
    return x


def test_blanks_of_every_kind_are_read():
    coding = Coding(title="", task="", solution=marked, check=Beside(name="", right=marked, calls=lambda _: [(1,)]))
    assert [blank.hint for blank in coding.blanks] == ["twice x, over two lines", "one more", "typed"]
    lines = [line.strip() for line in coding.code().splitlines()]
    assert "twice = ...  # twice x, over two lines" in lines
    assert "twice += ...  # one more" in lines
    assert "typed: int = ...  # typed" in lines
    assert "# twice x, over two lines" in [line.strip() for line in coding.filled.splitlines()]
    scope = {}
    exec(coding.filled, scope)
    assert scope["marked"](3) == 7


def test_a_blank_must_be_an_assignment():
    coding = Coding(title="", task="", solution=empty, check=Beside(name="", right=empty, calls=lambda _: [(1,)]))
    with pytest.raises(ValueError, match="expected an assignment or a return below the blank, got print"):
        _ = coding.blanks


def test_a_slip_that_gives_another_shape_is_told():
    check = Beside(
        name="mean",
        right=lambda x: x.mean(-1, keepdim=True),
        calls=lambda g: [(torch.randn(2, 3, generator=g),)],
        slips=[Slip(lambda x: x.mean(-1), "The last axis is gone.", "Keep it.")],
    )
    report = check(lambda x: x.mean(-1))
    assert "Expected a result of shape (2, 1); got (2,).\nThe last axis is gone." in str(report)
