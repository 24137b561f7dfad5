"""A room on two servers behind nginx, with Redis: its owner at one, a follower at the other, and one is killed."""

from playwright.sync_api import expect

from tests.browser.test_classroom import bar, enter, expect_at, open_room
from tests.hosted.test_replicas import newcomer, newcomers_are_sent_to, replica_of, wait_until


def test_a_room_goes_on_when_the_server_of_its_owner_is_killed(browser, lab, replicas):
    with newcomer(browser, lab, "/heads") as owner, newcomer(browser, lab, "/room") as follower:
        first, second = replica_of(owner), replica_of(follower)
        assert first != second
        enter(follower, open_room(owner))
        expect_at(follower, "/heads")
        expect(bar(owner)).to_contain_text("1 here")
        owner.choose_seed(3)
        expect_at(follower, "seed=3")
        owner.wait()
        assert follower.weights() == owner.weights()

        replicas.kill(first)
        wait_until(lambda: replica_of(owner) == second, owner.page, f"the owner has moved to replica {second}")
        owner.wait()
        expect(bar(owner)).to_contain_text("1 here")
        owner.choose_seed(4)
        expect_at(follower, "seed=4")
        owner.wait()
        assert follower.weights() == owner.weights()
        expect(bar(follower)).to_contain_text("You follow.")

        replicas.start(first)
        wait_until(lambda: newcomers_are_sent_to(first, lab), owner.page, f"replica {first} is used again")
        with newcomer(browser, lab, "/room") as late:
            enter(late, bar(owner).locator("b").inner_text())
            expect_at(late, "/heads", "seed=4")
        owner.problems.clear()
        follower.problems.clear()
