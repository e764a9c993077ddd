/* reference_peak.c - FLOPs of a token and peak of a chip, for MFU. */
#include "controller/cell/reference_peak.h"

/* Find what the stage trains, and so the FLOPs per parameter. */
static void read_stage(struct reference_peak *reference,
		       const struct value *stages)
{
	const struct value *learns;
	const char *word;

	if (!reference->stage)
		reference->stage = stages && value_count(stages)
					   ? value_key(stages, 0)
					   : formula_stages[0];
	learns = stages ? value_get(stages, reference->stage) : NULL;
	word = learns ? value_text(learns) : reference->stage;
	reference->flops.factor = formula_stage(word);
	if (reference->flops.factor > 0)
		reference->learns = word;
}

static void measure_model(struct reference_peak *reference,
			  const struct model *model, bool exact)
{
	struct flops *flops = &reference->flops;

	reference->nominal = !exact && model->nominal_parameters > 0;
	flops->parameters = reference->nominal ? model->nominal_parameters
					       : model->active_parameters;
	flops->layers = model->layers;
	flops->hidden = model->hidden;
	if (!flops->sequence)
		flops->sequence = model->sequence;
}

void reference_peak_init(struct reference_peak *reference,
			 const struct model *model, const struct chip *chip,
			 const char *precision, const char *stage,
			 uint32_t sequence, bool exact)
{
	*reference = (struct reference_peak){
		.flops.sequence = sequence,
		.stage = stage,
	};
	read_stage(reference, model ? model->stages : NULL);
	if (model)
		measure_model(reference, model, exact);
	if (!chip)
		return;
	reference->peak_flops = exact ? chip_peak_flops(chip, precision)
				      : chip_flagperf_flops(chip, precision);
	reference->peak_published =
		reference->peak_flops == chip_peak_flops(chip, precision);
	reference->memory_bytes = chip->memory_gib * (1 << 30);
}
