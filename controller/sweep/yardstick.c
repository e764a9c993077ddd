/* yardstick.c - what rates are held against: FLOPs of a token, peak of a chip.
 */
#include "controller/sweep/yardstick.h"

/* What the stage learns, and so what a parameter costs. */
static void read_stage(struct yardstick *yardstick, const struct value *stages)
{
	const struct value *learns;
	const char *word;

	if (!yardstick->stage)
		yardstick->stage = stages && value_count(stages)
					   ? value_key(stages, 0)
					   : formula_stages[0];
	learns = stages ? value_get(stages, yardstick->stage) : NULL;
	word = learns ? value_text(learns) : yardstick->stage;
	yardstick->flops.factor = formula_stage(word);
	if (yardstick->flops.factor > 0)
		yardstick->learns = word;
}

static void measure_model(struct yardstick *yardstick,
			  const struct model *model, bool exact)
{
	struct flops *flops = &yardstick->flops;

	yardstick->nominal = !exact && model->nominal_parameters > 0;
	flops->parameters = yardstick->nominal ? model->nominal_parameters
					       : model->active_parameters;
	flops->layers = model->layers;
	flops->hidden = model->hidden;
	if (!flops->sequence)
		flops->sequence = model->sequence;
}

void yardstick_init(struct yardstick *yardstick, const struct model *model,
		    const struct chip *chip, const char *precision,
		    const char *stage, uint32_t sequence, bool exact)
{
	*yardstick = (struct yardstick){
		.flops.sequence = sequence,
		.stage = stage,
	};
	read_stage(yardstick, model ? model->stages : NULL);
	if (model)
		measure_model(yardstick, model, exact);
	if (!chip)
		return;
	yardstick->peak_flops = exact ? chip_peak_flops(chip, precision)
				      : chip_flagperf_flops(chip, precision);
	yardstick->peak_published =
		yardstick->peak_flops == chip_peak_flops(chip, precision);
	yardstick->memory_bytes = chip->memory_gib * (1 << 30);
}
