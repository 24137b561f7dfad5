"""The encoders of the core benchmark do the same work. How fast they are is not tested."""

import pytest
import torch

from benchmarks.contenders import check_agreement, encoders


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")
def test_all_encoders_agree():
    check_agreement(encoders(16, 2, 2), torch.randn(3, 5, 16))
