"""What can be asked of a model: numbers about its attention, interventions, experiments, laws of its positions.

- weights: `analysis`, `aggregates`, `contribution`; which numbers are equal but for rounding: `ties`
- interventions and experiments: `interventions`, `order`, `experiments`
- positions: `position_laws`, `closest_rows`
- masks: `leaks` (allowed beside measured), `empty_rows`, and `mask_conventions` (other libraries' masks), with
  `mask_calls` and `mask_verified`
"""
