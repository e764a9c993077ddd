/* vendors_test.c - the shipped profiles say what vendors publish of themselves.
 *
 * The tables here were written by hand from the sources that the profiles
 * name, not from the profiles: a wrong peak or device node fails.
 */
#include "protocol/hardware/profile.h"

#include "tests/tap.h"

#include <math.h>

/* clang-format off */
static const struct {
	const char *vendor;
	const char *alias;
	const char *pci;	/* all vendor ids */
	const char *class;	/* one that the devices have, and that fits */
	const char *device;	/* nodes of each device */
	const char *shared;
	const char *required;
	const char *runtime;
	const char *cdi;
	const char *selector;
	const char *visible;
	const char *tool;
} vendors[] = {
	{ "amd", "ROCm", "1002", "120000",
	  "/dev/dri/card{card} /dev/dri/renderD{render}", "/dev/kfd",
	  "card render", "amd", "amd.com/gpu", "AMD_VISIBLE_DEVICES",
	  "HIP_VISIBLE_DEVICES", "amd-smi" },
	{ "ascend", "Huawei", "19e5", "120000", "/dev/davinci{physical}",
	  "/dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc", "physical",
	  "ascend", "huawei.com/npu", "ASCEND_VISIBLE_DEVICES",
	  "ASCEND_RT_VISIBLE_DEVICES", "npu-smi" },
	{ "cambricon", "MLU", "cabc", "120000", "/dev/cambricon_dev{index}",
	  "/dev/cambricon_ctl", "index", "", "cambricon.com/mlu",
	  "CAMBRICON_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES", "cnmon" },
	{ "gaudi", "Habana", "1da3", "120000",
	  "/dev/accel/accel{accel} /dev/accel/accel_controlD{accel}", "",
	  "accel", "habana", "", "HABANA_VISIBLE_DEVICES", "", "hl-smi" },
	{ "hexaflake", NULL, "", "", "", "", "", "", "", "", "", "" },
	{ "hygon", "DCU", "1d94", "038000",
	  "/dev/dri/card{card} /dev/dri/renderD{render}", "/dev/kfd",
	  "card render", "", "hygon.com/dcu", "HYGON_VISIBLE_DEVICES",
	  "HIP_VISIBLE_DEVICES", "hy-smi" },
	{ "iluvatar", "CoreX", "1e3e", "030200", "/dev/iluvatar{index}", "",
	  "index", "iluvatar", "iluvatar.com/gpu", "IX_VISIBLE_DEVICES",
	  "CUDA_VISIBLE_DEVICES", "ixsmi" },
	{ "kunlunxin", "XPU", "2057 1d22", "120000", "/dev/xpu{index}",
	  "/dev/xpuctrl", "index", "xpu", "", "CXPU_VISIBLE_DEVICES",
	  "XPU_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES", "xpu-smi" },
	{ "metax", "MACA", "9999", "030200",
	  "/dev/dri/card{card} /dev/dri/renderD{render}", "/dev/mxcd",
	  "card render", "", "metax-tech.com/gpu", "",
	  "CUDA_VISIBLE_DEVICES MACA_VISIBLE_DEVICES", "mx-smi" },
	{ "mthreads", "MUSA", "1ed5", "030200", "/dev/mtgpu.{index}", "",
	  "index", "mthreads", "mthreads.com/gpu", "MTHREADS_VISIBLE_DEVICES",
	  "MUSA_VISIBLE_DEVICES", "mthreads-gmi" },
	{ "nvidia", NULL, "10de", "030200", "/dev/nvidia{minor}",
	  "/dev/nvidiactl /dev/nvidia-uvm", "minor", "nvidia",
	  "nvidia.com/gpu", "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
	  "nvidia-smi" },
	{ "tsingmicro", NULL, "", "", "", "", "", "tsingmicro", "",
	  "TSINGMICRO_VISIBLE_DEVICES", "TXDA_VISIBLE_DEVICES", "tsm_smi" },
	{ "zixiao", NULL, "", "", "", "", "", "", "", "", "", "" },
	{ "cpu", NULL, "", "", "", "", "", "", "", "", "", "" },
};

/* Peaks in TFLOPS; 0: none may be there. flagperf: what FlagPerf divides by,
 * where that is another figure.
 */
static const struct {
	const char *vendor, *chip;
	double gib, fp64, fp32, tf32, fp16, bf16, fp8, int8;
	const char *flagperf;
	double fp4;
} chips[] = {
	{ "nvidia", "A100", 80, 19.5, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "A100-SXM4-80GB", 80, 19.5, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "A100-40GB", 40, 19.5, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "A10040G", 40, 19.5, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "A100-PCIE-40GB", 40, 19.5, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "A800", 80, 0, 19.5, 156, 312, 312, 0, 624, "", 0 },
	{ "nvidia", "H100", 80, 67, 67, 494.5, 989, 989, 1979, 1979, "tf32 495", 0 },
	{ "nvidia", "H100-PCIe", 80, 0, 51, 378, 756, 756, 1513, 1513, "", 0 },
	{ "nvidia", "H800", 80, 0, 67, 494.5, 989, 989, 1979, 1979, "tf32 495 fp32 495", 0 },
	{ "nvidia", "H200", 141, 67, 67, 494.5, 989, 989, 1979, 1979, "", 0 },
	{ "nvidia", "H20", 96, 0, 0, 0, 148, 148, 0, 0, "", 0 },
	{ "nvidia", "L40S", 48, 0, 91.6, 183, 362, 362, 733, 733, "", 0 },
	{ "nvidia", "B200", 180, 0, 80, 1125, 2250, 2250, 4500, 4500, "", 9000 },
	{ "nvidia", "GB200", 186, 0, 0, 1250, 2500, 2500, 5000, 5000, "", 10000 },
	{ "nvidia", "GB300", 279, 0, 80, 1250, 2500, 2500, 5000, 165, "", 15000 },
	{ "nvidia", "B300", 288, 0, 80, 1125, 2250, 2250, 4500, 0, "", 0 },
	{ "metax", "C500", 64, 0, 0, 120, 240, 240, 0, 0, "", 0 },
	{ "metax", "C500-OAM", 64, 0, 36, 140, 280, 280, 0, 560, "", 0 },
	{ "metax", "C550", 64, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "metax", "C600-A", 72, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "metax", "N260", 64, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "mthreads", "S4000", 48, 0, 25, 50, 100, 100, 0, 200, "fp16 98 bf16 98", 0 },
	{ "mthreads", "MTT S5000", 80, 0, 0, 0, 0, 0, 1000, 0, "", 0 },
	{ "ascend", "910A", 32, 0, 0, 0, 256, 0, 0, 0, "", 0 },
	{ "ascend", "910B1", 64, 0, 0, 0, 414, 414, 0, 0, "", 0 },
	{ "ascend", "910B2", 64, 0, 0, 0, 376, 376, 0, 0, "", 0 },
	{ "ascend", "910B3", 64, 0, 0, 0, 313, 313, 0, 0,
	  "fp16 304.277 bf16 304.277", 0 },
	{ "ascend", "Atlas800TA2", 64, 0, 0, 0, 313, 313, 0, 0,
	  "fp16 304.277 bf16 304.277", 0 },
	{ "ascend", "910B4", 32, 0, 0, 0, 280, 0, 0, 0, "", 0 },
	{ "ascend", "910B4-1", 64, 0, 0, 0, 280, 0, 0, 0, "", 0 },
	{ "ascend", "910C", 64, 0, 0, 0, 376, 376, 0, 0, "", 0 },
	{ "ascend", "310P3", 24, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "cambricon", "MLU370-S4", 24, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "cambricon", "MLU370-X4", 24, 0, 0, 0, 96, 96, 0, 256, "", 0 },
	/* One of the two devices of the card. */
	{ "cambricon", "MLU370-X8", 24, 0, 12, 0, 48, 48, 0, 128, "", 0 },
	{ "cambricon", "MLU590", 96, 0, 80, 0, 314, 314, 0, 0, "", 0 },
	{ "kunlunxin", "K200", 16, 0, 32, 0, 128, 0, 0, 256, "", 0 },
	{ "kunlunxin", "R200", 32, 0, 32, 0, 128, 0, 0, 256, "", 0 },
	{ "kunlunxin", "R300", 32, 0, 0, 0, 128, 128, 0, 256,
	  "fp16 256 bf16 256", 0 },
	{ "kunlunxin", "R300p", 32, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "kunlunxin", "P800", 96, 0, 0, 0, 345, 345, 0, 0, "", 0 },
	{ "iluvatar", "BI-V100", 32, 0, 0, 0, 147, 147, 0, 295, "", 0 },
	{ "iluvatar", "BI150", 32, 0, 0, 0, 0, 0, 0, 0, "fp16 192 bf16 192", 0 },
	{ "iluvatar", "TG-V200", 0, 0, 0, 0, 0, 0, 0, 0, "fp16 340 bf16 340", 0 },
	{ "iluvatar", "MR-V50", 16, 0, 24, 0, 96, 0, 0, 0, "", 0 },
	{ "hygon", "Z100L", 32, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "hygon", "K100", 64, 24.5, 24.5, 0, 100, 0, 0, 200, "fp16 20.48", 0 },
	{ "hygon", "K100_AI", 64, 24.5, 49, 98, 196, 196, 0, 392, "", 0 },
	{ "hygon", "BW200", 64, 30, 60, 240, 480, 480, 0, 960, "", 0 },
	{ "hygon", "BW1000", 64, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "amd", "MI300X", 192, 163.4, 163.4, 653.7, 1307, 1307, 2615, 2600, "", 0 },
	{ "amd", "MI308X", 192, 0, 0, 0, 0, 0, 0, 0, "", 0 },
	{ "amd", "MI325X", 256, 0, 163.4, 653.7, 1307, 1307, 2615, 2600, "", 0 },
	{ "amd", "MI350X", 288, 0, 0, 0, 2300, 2300, 4600, 0, "", 0 },
	{ "amd", "MI355X", 288, 0, 157.3, 0, 2500, 2500, 5000, 5000, "", 0 },
	/* One of the two devices of the card. */
	{ "amd", "MI250X", 64, 23.95, 23.95, 0, 191.5, 191.5, 0, 191.5, "", 0 },
	{ "amd", "MI210", 64, 0, 0, 0, 181, 181, 0, 0, "", 0 },
	{ "gaudi", "Gaudi2", 96, 0, 0, 0, 0, 432, 865, 0, "", 0 },
	{ "gaudi", "HL-325L", 128, 0, 229, 459, 459, 1677, 1677, 0, "", 0 },
};

/* Product names as the tools print them, and PCI device ids. */
static const struct {
	const char *vendor, *pci, *name, *chip;
} products[] = {
	{ "nvidia", NULL, "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB" },
	{ "nvidia", NULL, "NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB" },
	{ "nvidia", NULL, "NVIDIA A100 80GB PCIe", "A100-PCIE-80GB" },
	{ "nvidia", NULL, "A100-PCIE-40GB", "A100-PCIE-40GB" },
	{ "nvidia", NULL, "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB" },
	{ "nvidia", NULL, "NVIDIA H100 PCIe", "H100-PCIe-80GB" },
	{ "nvidia", NULL, "NVIDIA H800", "H800-SXM5-80GB" },
	{ "nvidia", NULL, "NVIDIA H200", "H200-SXM-141GB" },
	{ "nvidia", NULL, "NVIDIA H20", "H20" },
	{ "nvidia", NULL, "NVIDIA GeForce RTX 4080 SUPER", NULL },
	{ "nvidia", "20b2", NULL, "A100-SXM4-80GB" },
	{ "nvidia", "20F3", NULL, "A800-SXM4-80GB" },
	{ "nvidia", "2324", NULL, "H800-SXM5-80GB" },
	{ "nvidia", "2329", "NVIDIA H200", "H200-SXM-141GB" },
	{ "nvidia", "ffff", NULL, NULL },
	{ "metax", NULL, "MXC500", "C500" },
	{ "metax", NULL, "MetaX C500", "C500" },
	{ "metax", NULL, "MetaX C550", "C550" },
	{ "metax", NULL, "MetaX N260", "N260" },
	{ "metax", "0a01", NULL, "C500" },
	{ "mthreads", NULL, "MTT S4000", "S4000" },
	{ "mthreads", NULL, "MTT S80", "S80" },
	{ "mthreads", "0323", NULL, "S4000" },
	{ "ascend", NULL, "910B3", "910B3" },
	{ "ascend", NULL, "Ascend910B3", "910B3" },
	{ "ascend", NULL, "910B4", "910B4" },
	{ "ascend", NULL, "910B4-1", "910B4-1" },
	{ "ascend", NULL, "Ascend 910A", "910A" },
	{ "ascend", NULL, "Ascend910_9391", "910C" },
	{ "ascend", NULL, "910B2C", "910B2" },
	{ "ascend", NULL, "310P3", "310P3" },
	{ "ascend", "d802", NULL, NULL }, /* any 910B */
	{ "cambricon", NULL, "MLU370-X8", "MLU370-X8" },
	{ "cambricon", NULL, "MLU590-M9", "MLU590" },
	{ "kunlunxin", NULL, "P800 OAM", "P800-OAM" },
	{ "kunlunxin", NULL, "P800 PCIe", "P800-PCIe" },
	{ "kunlunxin", NULL, "R300", "R300" },
	{ "kunlunxin", NULL, "R300p", "R300p" },
	{ "iluvatar", NULL, "Iluvatar BI-V150S", "BI-V150S" },
	{ "iluvatar", NULL, "Iluvatar BI-V150", "BI-V150" },
	{ "iluvatar", NULL, "Iluvatar MR-V100", "MR-V100" },
	{ "hygon", NULL, "K100_AI", "K100_AI" },
	{ "hygon", NULL, "K100", "K100" },
	{ "hygon", "6211", NULL, "K100_AI" },
	{ "amd", NULL, "AMD Instinct MI300X", "MI300X" },
	{ "amd", NULL, "AMD Instinct MI250X / MI250", "MI250X" },
	{ "amd", "74a2", NULL, "MI308X" },
	{ "gaudi", NULL, "HL-225", "Gaudi2" },
	{ "gaudi", NULL, "HL-325L", "Gaudi3" },
	{ "gaudi", "1063", NULL, "Gaudi3" },
};
/* clang-format on */

static const char *joined(const struct strings *list, char *to, size_t size)
{
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; i < list->count && used < size; i++)
		used += (size_t)snprintf(to + used, size - used, "%s%s",
					 i ? " " : "", list->items[i]);
	return to;
}

static const char *visible(const struct profile *profile, char *to, size_t size)
{
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; i < profile->visible_count && used < size; i++)
		used += (size_t)snprintf(to + used, size - used, "%s%s",
					 i ? " " : "",
					 profile->visible[i].name);
	return to;
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

/* As their device plugins register it. */
static const char *resource_of(const char *vendor)
{
	static const char *const known[][2] = {
		{ "amd", "amd.com/gpu" },
		{ "ascend", "huawei.com/Ascend910" },
		{ "cambricon", "cambricon.com/mlu" },
		{ "gaudi", "habana.ai/gaudi" },
		{ "hygon", "hygon.com/dcu" },
		{ "iluvatar", "iluvatar.com/gpu" },
		{ "kunlunxin", "kunlunxin.com/xpu" },
		{ "metax", "metax-tech.com/gpu" },
		{ "mthreads", "mthreads.com/gpu" },
		{ "nvidia", "nvidia.com/gpu" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i][0], vendor))
			return known[i][1];
	return "";
}

static bool has_class(const struct profile *profile, const char *class)
{
	const struct strings *classes = &profile->discover.pci_classes;

	for (size_t i = 0; i < classes->count; i++)
		if (!strncmp(class, classes->items[i],
			     strlen(classes->items[i])))
			return true;
	return !*class;
}

static void test_vendors(const struct profiles *profiles)
{
	size_t count = sizeof(vendors) / sizeof(vendors[0]);
	char text[256];

	ok(profiles->count == count, "there are %zu vendors", count);
	for (size_t i = 0; i < count && i < profiles->count; i++) {
		const struct profile *profile = profiles->list[i];
		const struct discover_rules *discover = &profile->discover;
		const struct container_rules *container = &profile->container;
		const char *name = vendors[i].vendor;

		is(profile->vendor, name, "%s is in its place", name);
		ok(!vendors[i].alias ||
			   profiles_find(profiles, vendors[i].alias) == profile,
		   "%s is found by its other name", name);
		is(joined(&discover->pci_vendors, text, sizeof(text)),
		   vendors[i].pci, "%s has its PCI vendor", name);
		ok(has_class(profile, vendors[i].class),
		   "%s has the class of its devices", name);
		ok(discover->functions == 1, "%s: only function 0 is a device",
		   name);
		is(joined(&container->device_nodes, text, sizeof(text)),
		   vendors[i].device, "%s has its device nodes", name);
		is(joined(&container->shared_nodes, text, sizeof(text)),
		   vendors[i].shared, "%s has its shared nodes", name);
		is(joined(&discover->required, text, sizeof(text)),
		   vendors[i].required, "%s needs its numbers", name);
		is(or_none(container->runtime), vendors[i].runtime,
		   "%s has its runtime", name);
		is(or_none(container->cdi), vendors[i].cdi,
		   "%s has its CDI kind", name);
		is(or_none(profile->kubernetes_resource),
		   resource_of(vendors[i].vendor),
		   "%s has the resource of its device plugin", name);
		ok(!profile->kubernetes_unknown ==
			   (profile->kubernetes_resource ||
			    !strcmp(name, "cpu")),
		   "or %s says why there is none", name);
		is(or_none(container->selector.name), vendors[i].selector,
		   "%s has its selector", name);
		is(visible(profile, text, sizeof(text)), vendors[i].visible,
		   "%s has its variables", name);
		is(profile->monitor.commands_count
			   ? profile->monitor.commands[0].items[0]
			   : "",
		   vendors[i].tool, "%s has its tool", name);
	}
}

static const struct chip_rule *chip_named(const struct profile *profile,
					  const char *name)
{
	for (size_t i = 0; i < profile->chips_count; i++) {
		const struct chip_rule *chip = &profile->chips[i];

		if (!strcmp(chip->name, name))
			return chip;
		for (size_t k = 0; k < chip->aliases.count; k++)
			if (!strcmp(chip->aliases.items[k], name))
				return chip;
	}
	return NULL;
}

static double peak(const struct value *tflops, const char *precision)
{
	const struct value *value = value_get(tflops, precision);
	double figure = 0;

	if (value)
		value_double(value, 0, 1e9, &figure, NULL);
	return figure;
}

static const char *flagperf(const struct chip_rule *chip, char *to, size_t size)
{
	const struct value *tflops = chip->flagperf_tflops;
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; tflops && i < value_count(tflops); i++)
		used += (size_t)snprintf(to + used, size - used, "%s%s %s",
					 i ? " " : "", value_key(tflops, i),
					 value_text(value_at(tflops, i)));
	return to;
}

static void test_chips(const struct profiles *profiles)
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		const struct profile *profile =
			profiles_find(profiles, chips[i].vendor);
		const struct chip_rule *chip =
			profile ? chip_named(profile, chips[i].chip) : NULL;
		const struct {
			const char *precision;
			double peak;
		} peaks[] = {
			{ "fp64", chips[i].fp64 }, { "fp32", chips[i].fp32 },
			{ "tf32", chips[i].tf32 }, { "fp16", chips[i].fp16 },
			{ "bf16", chips[i].bf16 }, { "fp8", chips[i].fp8 },
			{ "int8", chips[i].int8 }, { "fp4", chips[i].fp4 },
		};
		char text[64];

		if (!ok(chip != NULL, "%s has a %s", chips[i].vendor,
			chips[i].chip) ||
		    !chip)
			continue;
		ok(chip->memory_gib == chips[i].gib, "%s has %g GiB, not %g",
		   chips[i].chip, chips[i].gib, chip->memory_gib);
		for (size_t k = 0; k < sizeof(peaks) / sizeof(peaks[0]); k++) {
			double found = peak(chip->tflops, peaks[k].precision);

			ok(found == peaks[k].peak,
			   "%s has %g TFLOPS at %s, not %g", chips[i].chip,
			   peaks[k].peak, peaks[k].precision, found);
		}
		is(flagperf(chip, text, sizeof(text)), chips[i].flagperf,
		   "%s has what FlagPerf divides by", chips[i].chip);
	}
}

/* A figure without a source is a guess; a chip nothing tells is never found. */
static void test_sources(const struct profiles *profiles)
{
	for (size_t i = 0; i < profiles->count; i++) {
		const struct profile *profile = profiles->list[i];

		struct error err = { 0 };

		ok(profile->title && profile->source,
		   "%s has a title and a source", profile->vendor);
		ok(!profile->monitor.sampler ||
			   sampler_probe(profile->monitor.sampler, &err) == 0,
		   "no expression of its monitor runs for ever %s", err.text);
		for (size_t k = 0; k < profile->chips_count; k++)
			ok(profile->chips[k].confidence != NULL,
			   "%s says how sure its figures are",
			   profile->chips[k].name);
	}
}

static void test_products(const struct profiles *profiles)
{
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		const struct profile *profile =
			profiles_find(profiles, products[i].vendor);
		const struct chip_rule *chip =
			profile_chip(profile, products[i].pci,
				     products[i].name);

		is(chip ? chip->name : NULL, products[i].chip,
		   "\"%s\" %s is a %s", or_none(products[i].name),
		   or_none(products[i].pci),
		   products[i].chip ? products[i].chip : "chip of no name");
	}
}

/* What drivers log, and what the kernel logs of a program with such a name. */
static void test_kernel(const struct profiles *profiles)
{
	static const struct {
		const char *vendor, *line;
		bool told;
	} lines[] = {
		{ "nvidia",
		  "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', "
		  "name=<unknown>, GPU has fallen off the bus.",
		  true },
		{ "nvidia", "NVRM: Xid 79[4711]: segfault at 0 ip 0", false },
		{ "nvidia", "NVRM: Xid (PCI:[4711]: segfault at 0 ip 0",
		  false },
		{ "nvidia", "NVRM: Xid (PCI:: page allocation failure: order:0",
		  false },
		{ "amd",
		  "amdgpu 0000:c1:00.0: amdgpu: socket: 0 3 uncorrectable "
		  "hardware errors detected in gfx block",
		  true },
		{ "amd", "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
		  true },
		{ "amd",
		  "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 "
		  "timeout, signaled seq=5, emitted seq=7",
		  true },
		{ "amd",
		  "amdgpu 0000:03:[4711]: segfault at 0 ip 0 in GPU reset "
		  "begin[1000]",
		  false },
		{ "amd",
		  "[drm:amdgpu_a [[4711]: segfault at 0 ip 0 in GPU reset "
		  "begin[1000]",
		  false },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct expression *kernel =
			profiles_find(profiles, lines[i].vendor)
				->monitor.kernel;

		ok(expression_match(kernel, lines[i].line,
				    strlen(lines[i].line), EXPRESSION_START,
				    NULL) == lines[i].told,
		   "%s: \"%.40s\" is %s", lines[i].vendor, lines[i].line,
		   lines[i].told ? "told" : "not told");
	}
}

int main(void)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	struct error err = { 0 };

	tap_begin(60);
	if (ok(profiles_load("images", &profiles, &err) == 0,
	       "all shipped profiles are good (%s)", err.text)) {
		test_vendors(&profiles);
		test_chips(&profiles);
		test_sources(&profiles);
		test_products(&profiles);
		test_kernel(&profiles);
	}
	profiles_clear(&profiles);
	return tap_done();
}
