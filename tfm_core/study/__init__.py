"""What can be asked of a model: analyses, interventions, experiments, masks as other libraries write them."""
