"""What every test of the library starts from."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("tfm_core", deadline=None, max_examples=20)
settings.load_profile("tfm_core")
torch.set_num_threads(1)  # as on the server: matrices this small only lose by being shared out


@pytest.fixture(autouse=True)
def same_random_numbers_each_time():
    torch.manual_seed(0)
