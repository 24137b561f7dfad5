"""What every test starts from."""

import pytest
import torch
from hypothesis import settings

from tfm_ui.lenses import lenses

settings.register_profile("shared machine", deadline=None, max_examples=30)
settings.load_profile("shared machine")
lenses()  # fills the registry of pictures
torch.set_num_threads(1)  # as on the server: the last digit depends on it


@pytest.fixture(autouse=True)
def same_random_numbers_each_time():
    torch.manual_seed(0)
