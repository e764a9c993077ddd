/* meaning_test.c - lines of no known format are read by what their names mean.
 */
#include "controller/results/extract.h"
#include "controller/results/meaning/notation.h"
#include "controller/results/rules/number.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"
#include "tests/unit/result_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((double)NAN) /* the record must not have it */
#define FIGURES 6

static struct extract_rules *rules;

static const enum record_field fields[FIGURES] = {
	RECORD_LOSS,
	RECORD_ITERATION_MS,
	RECORD_TOKENS_PER_SECOND,
	RECORD_SAMPLES_PER_SECOND,
	RECORD_TOKENS_PER_DEVICE,
	RECORD_MEMORY_MIB,
};

/* A log, and its last record. */
/* clang-format off */
static const struct {
	const char *what;
	const char *log;
	size_t count;
	uint64_t step;
	double figures[FIGURES];
} logs[] = {
	{ "key: value", "step: 10 | loss: 2.5 | step_time: 0.25 s\n",
	  1, 10, { 2.5, 250, NONE, NONE, NONE, NONE } },
	{ "key=value", "iter=10 loss=2.5 tok/s=5.2K mem=12.5GiB\n",
	  1, 10, { 2.5, NONE, 5200, NONE, NONE, 12800 } },
	{ "quoted keys and values", "{\"iteration\": \"5/100\", \"train_loss\": \"2.5\", \"ms_per_step\": 125}\n",
	  1, 5, { 2.5, 125, NONE, NONE, NONE, NONE } },
	{ "a dict in a dict, with an evaluation", "{'train': {'step': 5, 'loss': 2.5}, 'eval': {'loss': 9}}\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "key value", "Iter 20: Train loss 2.25, It/sec 0.5, Tokens/sec 90.5, Peak mem 4.5 GB\n",
	  1, 20, { 2.25, 2000, 90.5, NONE, NONE, 4608 } },
	{ "words of a capital", "GlobalStep=30, TrainLoss=1.5, SamplesPerSec=12\n",
	  1, 30, { 1.5, NONE, NONE, 12, NONE, NONE } },
	{ "ratios", "Epoch [1/5], Step [20/938], Loss: 2.3\n",
	  1, 20, { 2.3, NONE, NONE, NONE, NONE, NONE } },
	{ "a ratio in brackets", "[ 10/500] loss 2.5 (2.75) 12.5 img/s\n",
	  1, 10, { 2.5, NONE, NONE, 12.5, NONE, NONE } },
	{ "rates of a device", "step 4 loss 1.5 tokens_per_sec_per_gpu 1,234.5\n",
	  1, 4, { 1.5, NONE, NONE, NONE, 1234.5, NONE } },
	{ "Chinese", "第 10 步，损失：2.5，每步耗时：250毫秒，吞吐：32 样本/秒\n",
	  1, 10, { 2.5, 250, NONE, 32, NONE, NONE } },
	{ "Chinese with wide blanks", "轮次：1/3　步数：20/400　损失：2.5\n",
	  1, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a line that was glued to a bar", "Epoch 1: 100%|##| 40/40 [00:01<00:00, 28.0it/s]epoch 1 | loss 2.5\nEpoch 2: 100%|##| 40/40 [00:01<00:00, 28.0it/s]epoch 2 | loss 2.25\n",
	  2, 2, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a bar of an evaluation, glued to a line", "E 9/90 | Loss:2.5 | best 25%Val 9/90: 80%|#| 16/20 [00:03<00:00, 5.0it/s]\nE10/90 | Loss:2.25\n",
	  2, 10, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "an energy, and no epoch", "step 7 loss 2.5 E -1.25 E 3\n",
	  1, 7, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "epochs in one line", "epoch: 1/9, loss: 2.5epoch: 2/9, loss: 2.25epoch: 3/9, loss: 2\n",
	  3, 3, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a loss so far", "Epoch 0, Step 25, used 7.5 (s), avg loss so far is 2.5\n",
	  1, 25, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the current loss", "step 4: loss train (curr): 2.5, val (prev): None\n",
	  1, 4, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps over all epochs, one of them twice", "step 41 - epoch 1/90 loss 4\nstep 82 - epoch 2/90 loss 3\nstep 123 - epoch 3/90 loss 2.5\nstep 123 - epoch 4/90 loss 2.25\nstep 164 - epoch 5/90 loss 2\n",
	  4, 164, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a step over all epochs beside a ratio", "epoch 54/90 (1400/1900) loss 2.5 step 424k\nepoch 54/90 (1900/1900) loss 2.25 step 424k\nepoch 55/90 (900/1900) loss 2 step 425k\n",
	  2, 425000, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a line that sums up an epoch by its batches", "Epoch 1/50 begins\nBatch 5/500 | Loss: 4\nBatch 10/500 | Loss: 3\nEpoch 1 done | Avg Loss: 3.5 | Batches: 10/10\nEpoch 2/50 begins\nBatch 15/500 | Loss: 2.5\n",
	  3, 15, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a named step without a loss, between epochs with one", "epoch 1 loss 2.5\nepoch 2 loss 2.25\nround 7: 9 tok/s\nepoch 3 loss 2\n",
	  3, 3, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a speed below its loss", "\titers: 100, epoch: 1 | loss: 2.5\n\tspeed: 0.25s/iter; left time: 900.5s\n",
	  1, 100, { 2.5, 250, NONE, NONE, NONE, NONE } },
	{ "another speed below its step", "step 5, loss = 2.5 (0.25 sec/batch)\nsteps/sec: 50\n",
	  1, 5, { 2.5, 250, NONE, NONE, NONE, NONE } },
	{ "parts of a loss before a loss", "iter 1: pear loss: 2.5; plum loss: 1.5\niter 2: loss 2.5\n",
	  1, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a bar over all epochs, between lines that name them", "epoch 2/15\nreel: epoch 1 ended, epoch: 2\nsteps:  13%|#| 440/3300 [21:33<2:20:06, 2.94s/it, avr_loss=2.5]\nepoch 3/15\nreel: epoch 2 ended, epoch: 3\nsteps:  20%|##| 660/3300 [32:17<2:09:08, 2.94s/it, avr_loss=2.25]\n",
	  2, 660, { 2.25, 2940, NONE, NONE, NONE, NONE } },
	{ "steps over all epochs, of a run that begins again", "Epoch 7, Step 500: Loss=2.5\nEpoch 14, Step 1000: Loss=2.25\nEpoch 7, Step 500: Loss=2.6\nEpoch 14, Step 1000: Loss=2.3\n",
	  2, 1000, { 2.3, NONE, NONE, NONE, NONE, NONE } },
	{ "an evaluation with steps of its own", "Epoch 1/2\nstep 10/30 - loss: 2.5\nstep 30/30 - loss: 2.25\nEval begin...\nstep 10/20 - loss: 9.5\nstep 20/20 - loss: 9.25\nEval samples: 640\nEpoch 2/2\nstep 10/30 - loss: 2.0\nstep 30/30 - loss: 1.75\nEval begin...\nstep 20/20 - loss: 9.0\n",
	  4, 60, { 1.75, NONE, NONE, NONE, NONE, NONE } },
	{ "a sentence", "after 8 updates the mean cross entropy is 2.5; 1.5 s per update\n",
	  1, 8, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "rounds", "I0101 10:00:00 pears.cc:3] round=4 mean_loss=0.5 qps=7\n",
	  1, 4, { 0.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same of each rank, in short words", "[R0] upd 2/40 loss_local=2.5\n",
	  1, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "seconds of an item", "step 5 loss 2.5 0.25 s/img\n",
	  1, 5, { 2.5, NONE, NONE, 4, NONE, NONE } },
	{ "ticks, and seconds of a thousand images", "tick 5     kimg 20.0     time 1m 30s      sec/tick 25.0    sec/kimg 6.25    maintenance 0.0    gpumem 9.5\n",
	  1, 5, { NONE, 25000, NONE, 160, NONE, NONE } },
	{ "no blank behind the name of the loss", "EPOCH[1/9] loss2.5-|Pick:10.5|\nEPOCH[2/9] loss2.25-|Pick:10.5|\n",
	  2, 2, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a number that belongs to the name", "step 5 loss0.5_pear: 9 my_loss0.5 loss1 7 loss: 2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "iterations of several updates each", "n_updates: 60, iterations: 7, loss: 2.5\n",
	  1, 7, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a likelihood", "  iter  nll  val_nll\n-----  ----  ----\n 50  2.5  -\n 100  2.25  2.4\n",
	  2, 100, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a summary under another name of a loss", "step 1 loss 2.5\nstep 2 loss 2.25\n...*\n#iter = 82897\nobj = -22405, rho = 0.5\n",
	  2, 2, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a first line under another name", "step 0 objective 9\nstep 1 loss 2.5\nstep 2 loss 2.25\n",
	  3, 2, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a table", "| step | loss | tok/s |\n|------|------|-------|\n| 10 | 2.5 | 100 |\n| 20 | 2.25 | 110 |\n",
	  2, 20, { 2.25, NONE, 110, NONE, NONE, NONE } },
	{ "a table in a box", "┏━━━━┳━━━━┓\n┃ step ┃ loss ┃\n┡━━━━╇━━━━┩\n│ 10 │ 2.5 │\n│ 20 │ 2.25 │\n└────┴────┘\n",
	  2, 20, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "boxes of names and values", "┌──────┬────┐\n│ step │ 10 │\n├──────┼────┤\n│ loss │ 2.5 │\n│ tok/s │ 100 │\n└──────┴────┘\n"
	  "┌──────┬────┐\n│ step │ 20 │\n├──────┼────┤\n│ loss │ 2.25 │\n│ tok/s │ 110 │\n└──────┴────┘\n",
	  2, 20, { 2.25, NONE, 110, NONE, NONE, NONE } },
	{ "a box with titles, and one of an evaluation", "------------------\n| time/      |    |\n|    iterations | 7 |\n| train/     |    |\n|    loss    | 2.5 |\n------------------\n"
	  "| eval/      |    |\n|    iterations | 8 |\n|    loss    | 9 |\n------------------\n",
	  1, 7, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "boxes of which the next begins at once, and one with an evaluation and the loss of updates", "----------\n| time/ | |\n| iterations | 1 |\n| fps | 9 |\n| total_timesteps | 80 |\n| train/ | |\n| loss | 2.5 |\n| n_updates | 40 |\n----------\nEval num_timesteps=90\n----------\n| eval/ | |\n| mean_reward | 7 |\n| time/ | |\n| total_timesteps | 90 |\n| train/ | |\n| loss | 3 |\n| n_updates | 50 |\n----------\n"
	  "----------\n| time/ | |\n| iterations | 2 |\n| fps | 9 |\n| total_timesteps | 160 |\n----------\n----------\n| time/ | |\n| iterations | 3 |\n| fps | 9 |\n| total_timesteps | 240 |\n| train/ | |\n| loss | 2.25 |\n| n_updates | 60 |\n----------\n",
	  3, 3, { 2.25, NONE, NONE, 9, NONE, NONE } },
	{ "a box of settings", "| max steps | 100 |\n| batch size | 8 |\n| tokens per second | 5 |\nstep 1 loss 2.5\n",
	  1, 1, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "comma-separated values", "step,loss,lr\n1,2.5,0.1\n2,2.25,0.1\n",
	  2, 2, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a step above its values", "[step=10/100]:\n    train/loss: 2.5\n    throughput/device/tps: 1,500\n",
	  1, 10, { 2.5, NONE, NONE, NONE, 1500, NONE } },
	{ "a bar without a box", "Steps: 100% 8/8 [01:00<00:00,  7.50s/it, loss=0.125]\n",
	  1, 8, { 0.125, 7500, NONE, NONE, NONE, NONE } },
	{ "steps that begin again in each epoch", "Epoch [1/2], Step [1/2], Loss: 4\nEpoch [1/2], Step [2/2], Loss: 3\nEpoch [2/2], Step [1/2], Loss: 2\n",
	  3, 3, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "the same, with lines that sum up each epoch", "Step 50 loss 4\nStep 100 loss 3\nEpoch 1: mean loss 3.5, lr 0.1\nStep 50 loss 2.75\nStep 100 loss 2.5\nEpoch 2: mean loss 2.625, lr 0.1\n",
	  4, 200, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same, with titles of such", "Step 50/100 loss 4\nStep 100/100 loss 3\nEpoch 1 Summary:\n   - pips: 7\nStep 50/100 loss 2.75\nStep 100/100 loss 2.5\nEpoch 2 Summary:\n",
	  4, 200, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps over all epochs, with lines that sum up each", "Step 50 loss 4\nStep 100 loss 3\nEpoch 1: mean loss 3.5, lr 0.1\nStep 150 loss 2.75\nStep 200 loss 2.5\n",
	  4, 200, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps over all epochs", "epoch: 1 step: 1 loss: 4\nepoch: 1 step: 2 loss: 3\nepoch: 2 step: 3 loss: 2\n",
	  3, 3, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "an epoch on a line of its own", "Epoch 1/2\n4/4 [====] - 2s 5ms/step - loss: 0.5\nEpoch 2/2\n4/4 [====] - 2s 6ms/step - loss: 0.25\n",
	  2, 8, { 0.25, 6, NONE, NONE, NONE, NONE } },
	{ "epochs alone", "Epoch 1/2, loss: 0.5, acc: 0.1\nEpoch 2/2, loss: 0.25, acc: 0.2\n",
	  2, 2, { 0.25, NONE, NONE, NONE, NONE, NONE } },
	{ "epochs beside steps", "Epoch 1 step 7 loss 0.75\nEpoch 1/2, loss: 0.5\n",
	  1, 7, { 0.75, NONE, NONE, NONE, NONE, NONE } },
	{ "samples of an epoch", "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.25\nTrain Epoch: 1 [1280/60000 (2%)]\tLoss: 2.125\n",
	  2, 2, { 2.125, NONE, NONE, NONE, NONE, NONE } },
	{ "a step between the name and its value", "Loss at step 100: 2.5\nTraining loss (for one batch) at step 200: 2.25\nValidation loss at step 300: 9\n",
	  2, 200, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a number alone in brackets", "I0203 writer.py:48] [100] steps_per_second=4, train_loss=2.5\nI0203 writer.py:48] [200] steps_per_second=5, train_loss=2.25\n",
	  2, 200, { 2.25, 200, NONE, NONE, NONE, NONE } },
	{ "an epoch and a step in brackets", "[1,  2000] loss: 2.5\n[1,  4000] loss: 2.25\n[2,  2000] loss: 2\n",
	  3, 6000, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a process's number and a step in brackets", "[4121] [ 10/500] loss 2.5\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a bar that replaces another in its line", "  1%|#| 1/100 [00:03<05:10,  3s/it]  3%|#| 3/100 [00:09<05:00,  2s/it]  {'loss': 2.5}\n",
	  1, 3, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "processes by their numbers in the line", "INFO (1/2) Epoch 1, batch 50, loss[loss=9, over 12.00 frames]\nINFO (0/2) Epoch 1, batch 50, loss[loss=2.5, over 11.00 frames]\n",
	  1, 50, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a unit of a name that is unknown", "step 5 loss 2.5 reserved 50.5 GB tgs: 2700\n",
	  1, 5, { 2.5, NONE, NONE, NONE, 2700, NONE } },
	{ "a unit without a name", "step 5 loss 2.5 | 512.5 ms | 2,700 tok/s\n",
	  1, 5, { 2.5, 512.5, 2700, NONE, NONE, NONE } },
	{ "two times without a name", "step 5 loss 2.5 | 512.5 ms | 12.5 ms\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a time with its name behind it", "step 5 loss 2.5 | 512.5 ms apart\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a time without a name, of a step or of ten", "step 10 loss 2.5 | 512.5 ms\nstep 20 loss 2.25 | 500 ms\n",
	  2, 20, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "lines in brackets below such an object", "{\n  \"pears\": {\n    \"ripe\": 5\n  }\n}\n[2031-05-17] step=1, skipped=0\n[Step 1/90] Loss: 2.5\n[2031-05-17] step=2, skipped=0\n[Step 2/90] Loss: 2.25\n[2031-05-17] step=3, skipped=0\n[2031-05-17] epoch=0/step=3, CurrSamplesPerSec=8.5\n[Step 3/90] Loss: 2\n",
	  3, 3, { 2, NONE, NONE, 8.5, NONE, NONE } },
	{ "a bar whose numbers have units", "10:00:01 [I] Along the way: 980it/30.0kit rate:2.5s/it\nStep 100: loss=2.5\n10:00:09 [I] Along the way: 1.2kit/30.0kit rate:2.5s/it\nStep 200: loss=2.25\n",
	  2, 200, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "shares of epochs, one of them a whole number", "step:800 ep:40 epch:1.52 loss:2.5 grdn:9.5\nstep:1K ep:51 epch:2.00 loss:2.25 grdn:8.5\nstep:2K ep:60 epch:2.53 loss:2 grdn:7.5\n",
	  3, 2000, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "seconds since the line before, as the clock tells", "10:00:00: iter: 0 loss: 2.5 seconds: 400\n10:02:03: iter: 100 loss: 2.25 seconds: 123\n10:04:06: iter: 200 loss: 2 seconds: 123\n",
	  3, 200, { 2, 1230, NONE, NONE, NONE, NONE } },
	{ "a time, and the part of the data in brackets", "2031-01-01 00:00:20,000 INFO: [pears..][epoch:  0, iter:   1,900, lr:(2.000e-04,)] [eta: 1 day, 0:00:00, time (data): 0.500 (0.003)] l_pix: 2.5e-01\n"
	  "2031-01-01 00:01:10,000 INFO: [pears..][epoch:  0, iter:   2,000, lr:(2.000e-04,)] [eta: 1 day, 0:00:00, time (data): 0.500 (0.003)] l_pix: 1.25e-01\n"
	  "2031-01-01 00:02:00,000 INFO: [pears..][epoch:  0, iter:   2,100, lr:(2.000e-04,)] [eta: 1 day, 0:00:00, time (data): 0.500 (0.003)] l_pix: 6.25e-02\n",
	  3, 2100, { 0.0625, 500, NONE, NONE, NONE, NONE } },
	{ "an object with a line for each member", "{\n  \"global_step\": 20,\n  \"history\": [\n    {\n      \"loss\": 2.5,\n      \"step\": 10\n    },\n    {\n      \"loss\": 2.25,\n      \"step\": 20\n    }\n  ]\n}\n",
	  2, 20, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "an object in an object", "{\n  \"step\": 10,\n  \"train\": {\n    \"loss\": 2.5\n  }\n}\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "an object that is cut off", "{\n  \"step\": 7,\nstep 10 loss 2.5\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a time with a zone, and the rank of a process", "ts=2025-06-01T08:00:00Z rank0 step=5 loss=2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a range of steps", "Epoch[0] Batch [0-50]\tSpeed: 2500 samples/sec\tloss=2.5\n",
	  1, 50, { 2.5, NONE, NONE, 2500, NONE, NONE } },
	{ "a ratio behind the word of training", "[train] 100/1000 | loss=2.5\n[eval] 100/1000 | loss=9\n",
	  1, 100, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "ranks that the lines name among their values", "rank=1 step=5 loss=9\nrank=0 step=5 loss=2.5\nrank=1 step=5 loss=9\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the rank of a matrix is none", "lora_rank=8 step=5 loss=2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the lowest of several ranks", "[rank1]: step 5 loss 9\n[rank0]: step 5 loss 2.5\n[rank1]: step 5 loss 9\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "an epoch by its unit", "第2轮 [50/200] 损失=0.5\n",
	  1, 250, { 0.5, NONE, NONE, NONE, NONE, NONE } },
	/* Steps without a known name. */
	{ "a number that rises by the same", "t=5; fruit=3; xent=4\nt=10; fruit=3; xent=3\nt=15; fruit=3; xent=2.5\nt=20; fruit=3; xent=2.25\n",
	  4, 20, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "the same of an object's", "{\"n\": 1, \"nll\": 4, \"lr\": 0.1}\n{\"n\": 5, \"nll\": 3, \"lr\": 0.1}\n{\"n\": 10, \"nll\": 2.5, \"lr\": 0.1}\n{\"n\": 15, \"nll\": 2.25, \"lr\": 0.1}\n",
	  4, 15, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "the same with marks alone", "@320 L_total≈4 L_pip≈0.5\n@640 L_total≈3 L_pip≈0.5\n@960 L_total≈2.5 L_pip≈0.5\n",
	  3, 960, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "of several the one that rises least", "8192 pips, k 10, loss 4\n16384 pips, k 20, loss 3\n24576 pips, k 30, loss 2.5\n",
	  3, 30, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "numbers that begin again in each epoch", "Epoch 1/2\nk=10 xent=4\nk=20 xent=3\nk=30 xent=2.5\nEpoch 2/2\nk=10 xent=2.25\n",
	  4, 40, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "tokens are no steps", "tokens=100 lr=0.1 xent=4\ntokens=200 lr=0.1 xent=3\ntokens=300 lr=0.1 xent=2.5\n",
	  3, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a number that rises unevenly", "n=5 lr=0.1 xent=4\nn=10 lr=0.1 xent=3\nn=30 lr=0.1 xent=2.5\n",
	  3, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "thousands", "0.5k │ xent 4\n1.1k │ xent 3\n1.7k │ xent 2.5\n",
	  3, 1700, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a step of a total in words", "pears: update 3 of 60 - loss 2.5\n",
	  1, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "values below their step, each in its line", "--- update 3 of 60 ---\nlr: 0.1\nfruit: 7\npear loss: 2.5\ntok/s: 100\n",
	  1, 3, { 2.5, NONE, 100, NONE, NONE, NONE } },
	{ "steps that only lines of an evaluation name", "step 0: train loss 9.5, val loss 9.25\n0 | loss 9.5 | lr 0.1 | 120.5ms\n10 | loss 5 | lr 0.1 | 121.5ms\n20 | loss 3 | lr 0.1 | 120.5ms\nstep 20: train loss 3.5, val loss 3.25\n30 | loss 2.5 | lr 0.1 | 121.5ms\n",
	  4, 30, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "lines of parts beside steps with names", "step 1 loss 4\n0 | loss 9 | lr 0.1\n1 | loss 9 | lr 0.1\n2 | loss 9 | lr 0.1\nstep 5 loss 2.5\n",
	  2, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "times that rise slower than steps", "0 | loss 4 | 120 ms\n10 | loss 3 | 121 ms\n20 | loss 2.5 | 122 ms\n",
	  3, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "settings with units of steps", "breaks down as: 4 steps * 32 batch size\nlearning rate: 0.1\nstep 1 loss 2.5\n",
	  1, 1, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps that are said twice, by shares of an epoch", ">> {'loss': 4, 'lr': 0.1, 'epoch': 0.5, 'fruit': 3}\n{'loss': 4, 'grad_norm': 7, 'lr': 0.1, 'epoch': 0.5}\n>> {'loss': 2.5, 'lr': 0.1, 'epoch': 1.0, 'fruit': 3}\n{'loss': 2.5, 'grad_norm': 7, 'lr': 0.1, 'epoch': 1.0}\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	/* Losses by other names. */
	{ "losses of trees", "[0]\ttrain-logloss:4.5\tvalid-logloss:4.75\n[1]\ttrain-logloss:2.5\tvalid-logloss:3.25\n",
	  2, 1, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "that of the evaluation comes first", "[4]\teval-rmse:9\ttrain-rmse:2.5\n",
	  1, 4, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "of possessive names", "[1]\ttraining's pear_logloss: 2.5\tvalid_1's pear_logloss: 9\n",
	  1, 1, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a training value beside that of an evaluation", "[02/60] train 2.5 valid 9 lr 0.1\n",
	  1, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "parts of a loss without their sum", "step 10 pear_loss=2.5 plum_loss=3.5\n",
	  1, 10, { NONE, NONE, NONE, NONE, NONE, NONE } },
	{ "a part behind the loss", "step 10 loss 2.5\nstep 10 pear_loss 9\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "what is minimized", "iter(10) cost(2.5) t(1.5s)\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a cost that is a time", "step 1 loss 3 step_time 0.5 cost 1.5\n",
	  1, 1, { 3, 500, NONE, NONE, NONE, NONE } },
	{ "a letter that is a loss only with a fraction", "it 5 L 2.5 B 8\nit 6 L 2048 tok/s 9\n",
	  2, 6, { NONE, NONE, 9, NONE, NONE, NONE } },
	{ "a value in a wrapper", "step 5: loss=tensor(2.5, device='fruit:0')\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a loss below zero", "step 5 loss=-2.5\n",
	  1, 5, { -2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "slashes between values", "step 5 / loss 2.5 / lr 0.1\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a sentence in an object", "{\"level\": \"info\", \"message\": \"iter 5 loss 2.5\"}\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	/* Ways to write numbers. */
	{ "decimal commas", "Schritt 10 von 90: Verlust 7,5, 3,5 s/Schritt\nSchritt 20 von 90: Verlust 6,125, 3,125 s/Schritt\n",
	  2, 20, { 6.125, 3125, NONE, NONE, NONE, NONE } },
	{ "decimal commas with three digits from the start", "epoch 1 step 1,000 loss: 2,125, lr: 0,001\n",
	  1, 1000, { 2.125, NONE, NONE, NONE, NONE, NONE } },
	{ "decimal commas between semicolons", "step;loss\n1;2,5\n2;2,125\n",
	  2, 2, { 2.125, NONE, NONE, NONE, NONE, NONE } },
	{ "commas of thousands beside points", "step 1,000 loss 2.5 tok/s 51,200\nstep 2,000 loss 1,024 tok/s 51,300\n",
	  2, 2000, { 1024, NONE, 51300, NONE, NONE, NONE } },
	{ "commas of thousands before a fraction", "step 1,000 loss 1,024.5\n",
	  1, 1000, { 1024.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a list with commas", "step 5 loss 2,5 parts [0,1] (0,9,0,95)\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "exponents of single precision", "step = 5 loss = 2.5f0 lr = 1.5f-3 rate = 5.5fps\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a long number of single precision", "step = 5 loss = 2.500000000000000000f0\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "names behind their values", "epoch 1 step 5 - 2.5 loss - 0.75 accuracy - 100 samples/s\n",
	  1, 5, { 2.5, NONE, NONE, 100, NONE, NONE } },
	{ "a name behind its value, and a word", "step 5: 2.5 mean loss, 0.5 fruit\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a place in brackets behind the name", "loss[10] = 3.5\nloss[20] = 3\nloss[30] = 2.5\n",
	  3, 30, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	/* Losses without a place. */
	{ "losses alone", "loss: 4\nloss: 3\nloss: 2.5\n",
	  3, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "two losses of different names", "first loss: 4\nfinal loss: 3\n",
	  0, 0, { 0 } },
	{ "losses alone before those of steps", "loss: 4\nloss: 3\nstep 5 loss 2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "an objective", "iter 5 obj 2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "what is learned beside a test", "0:\tlearn: 4.5\ttest: 9\tbest: 9 (0)\ttotal: 5ms\n1:\tlearn: 3.5\ttest: 8\tbest: 8 (1)\ttotal: 9ms\n"
	  "2:\tlearn: 2.5\ttest: 7\tbest: 7 (2)\ttotal: 13ms\n",
	  3, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a table whose names have digits", "steps | xent | top1\n0.5k | 2.5 | 31\n",
	  1, 500, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "parts below a step", "== step 3 ==\n[train]\n  loss: 2.5\n[valid]\n  loss: 9\n== step 4 ==\n[valid]\n  loss: 9\n[train]\n  loss: 2.25\n",
	  2, 4, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "objects that say of what they are", "{\"split\": \"train\", \"step\": 5, \"loss\": 2.5}\n{\"split\": \"val\", \"step\": 5, \"loss\": 9}\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps that look like the labels of tasks", "10: train loss 4.5\n20: train loss 3.5\n30: train loss 2.75\n40: train loss 2.5\n",
	  4, 40, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "such steps in a column", "loading\n  90: loss 4.5\n 100: loss 3.5\n 110: loss 2.75\n 120: loss 2.5\n",
	  4, 120, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "such steps one after another", "0: loss 3\n1: loss 3\n2: loss 3\n3: loss 3\n4: loss 3\n5: loss 3\n6: loss 3\n7: loss 3\n"
	  "8: loss 3\n9: loss 3\n10: loss 3\n11: loss 3\n12: loss 3\n13: loss 3\n14: loss 3\n15: loss 3\n16: loss 2.5\n",
	  17, 16, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "such steps behind a first evaluation", "step 0: train loss 4.5, val loss 9\n0: loss 4.5\n10: loss 3.5\n20: loss 3\n30: loss 2.5\n",
	  4, 30, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "such steps that begin again in an epoch", "Epoch 1\n100: loss 4.5\n200: loss 3.5\n300: loss 3\n400: loss 2.75\nEpoch 2\n100: loss 2.5\n",
	  5, 500, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "steps in brackets that look like ranks", "[10]  loss 4.5\n[20]  loss 3.5\n[30]  loss 2.75\n[40]  loss 2.5\n",
	  4, 40, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "labels of tasks, which come again", "0: loss 4.5\n2: loss 4.5\n1: loss 4.5\n3: loss 4.5\n0: loss 2.5\n2: loss 2.5\n",
	  6, 6, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "labels of the first task of each node", "0: loss 4.5\n8: loss 4.5\n16: loss 4.5\n24: loss 4.5\n0: loss 2.5\n8: loss 2.5\n",
	  6, 6, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "labels before steps with a name", "1: step 10 loss 4.5\n2: step 10 loss 4.5\n7: step 20 loss 2.5\n9: step 20 loss 2.5\n",
	  2, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "numbers with a point behind them", "10. loss 4.5\n20. loss 3.5\n30. loss 2.5\n",
	  3, 30, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "values between semicolons, and a unit without a name", "step;loss;pear [tok/s]\n5;2.5;100\n",
	  1, 5, { 2.5, NONE, 100, NONE, NONE, NONE } },
	{ "losses below the title of a step", "###\n   Learning iteration 6/300\n\n   Mean value loss: 9.5\n   Mean surrogate loss: 0.5\n   Iteration time: 0.25s\n###\n   Learning iteration 7/300\n\n   Mean value loss: 9.25\n   Iteration time: 0.5s\n",
	  2, 7, { 9.25, 500, NONE, NONE, NONE, NONE } },
	{ "losses of two players", "[5/90] Loss_D: 2.5 Loss_G: 9\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "epochs whose lines have a learning rate", "Epoch 5, Loss 4, LR 0.1\nEpoch 10, Loss 3, LR 0.1\nEpoch 20, Loss 2.5, LR 0.1\n",
	  3, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "batches that begin again, without a word of epochs", "Batch [50] loss 4\nBatch [100] loss 3\nBatch [50] loss 2.5\n",
	  3, 150, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same beside their total", "batch count: 0/22, iter: 0, loss: 4\nbatch count: 20/22, iter: 20, loss: 3\nbatch count: 0/22, iter: 0, loss: 2.5\n",
	  3, 22, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "records in one line, whose ends are lost", "step: 1. epoch: 1/9. pear loss: 9. loss: 4step: 1. epoch: 1/9. pear loss: 9. loss: 4step: 2. epoch: 1/9. pear loss: 9. loss: 2.5\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a mean beside the loss of the training", "step 5 train_loss 2.5 avg_loss 9\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "two rates with one unit", "step 5 loss 2.5 5092/261 tok/s\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a number of tokens", "step 5 loss 2.5 toks=108\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "bars that are longer than names", "pips: 10%|██████████████████████████| 7/70 [00:02<00:20,  2.5it/s, loss=4]\n"
	  "pips: 20%|██████████████████████████ | 8/70 [00:02<00:20,  2.5it/s, loss=3]\n"
	  "pips: 30%|██████████████████████████  | 9/70 [00:02<00:20,  2.5it/s, loss=2.5]\n",
	  3, 9, { 2.5, 400, NONE, NONE, NONE, NONE } },
	{ "a table of losses of parts, whose steps have a mark", "E    #       LOSS PIP  LOSS PEAR  PIPS_F  SCORE \n---  ------  --------  ---------  ------  ------\n  0       0      0.00      53.25    0.00    0.00\n  3     200      9.50       2.50   71.00    0.71\n",
	  2, 200, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a part that is named behind the loss", "iter: 5 loss_pear: 2.5 loss_scale: 1024.0\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a day with its clock", "[04/14 11:48:20 pears]: iter: 5 loss: 2.5\n04/14 11:48:21 loss: 2.25 iter: 6\n",
	  2, 6, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "two names with two numbers", "epoch/iter: 52/1367 loss: 2.5\n",
	  1, 1367, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a place in the source that has the name of a value", "pear:__train_epoch:359 - Train epoch: [1/9], batch: [5/22], loss: 2.5\n",
	  1, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "values above the line of their step", "loss: 4\nlr: 0.1\niteration: 84\n\nloss: 2.5\nlr: 0.1\niteration: 85\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "ends of epochs above their values", "--- 22/22 batches finished ---\nTrain loss: 4\n--- 22/22 batches finished ---\nTrain loss: 2.5\n",
	  2, 44, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	/* What the numbers answer. */
	{ "seconds, by the clock of the lines", "09:00:00 step 10 loss 3 time 0.95\n09:00:10 step 20 loss 2 time 0.95\n09:00:20 step 30 loss 1 time 0.95\n",
	  3, 30, { 1, 950, NONE, NONE, NONE, NONE } },
	{ "milliseconds, by the clock of the lines", "09:00:00 step 10 loss 3 time 950\n09:00:10 step 20 loss 2 time 950\n09:00:20 step 30 loss 1 time 950\n",
	  3, 30, { 1, 950, NONE, NONE, NONE, NONE } },
	{ "seconds of an interval", "09:00:00 step 10 loss 3 time 9.5\n09:00:10 step 20 loss 2 time 9.5\n09:00:20 step 30 loss 1 time 9.5\n",
	  3, 30, { 1, 950, NONE, NONE, NONE, NONE } },
	{ "seconds since the start", "09:00:00 step 10 loss 3 elapsed 10\n09:00:10 step 20 loss 2 elapsed 20\n09:00:20 step 30 loss 1 elapsed 30\n",
	  3, 30, { 1, 1000, NONE, NONE, NONE, NONE } },
	{ "times that rise by chance", "step 1 loss 3 took 1.01 s\nstep 2 loss 2 took 1.02 s\nstep 3 loss 1 took 1.04 s\n",
	  3, 3, { 1, NONE, NONE, NONE, NONE, NONE } },
	{ "the same, beside a clock", "09:00:00 step 10 loss 3 took 0.95 s\n09:00:10 step 20 loss 2 took 0.96 s\n09:00:20 step 30 loss 1 took 0.97 s\n",
	  3, 30, { 1, 970, NONE, NONE, NONE, NONE } },
	{ "a time that nothing tells", "step 10 loss 3 time 9.5\nstep 20 loss 2 time 9.5\n",
	  2, 20, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a rate that nothing tells", "step 10 loss 3 speed 95\nstep 20 loss 2 speed 95\n",
	  2, 20, { 2, NONE, NONE, NONE, NONE, NONE } },
	{ "a rate that batch and time tell", "step 10 loss 3 step_time 0.5s gbs 64 speed 128\nstep 20 loss 2 step_time 0.5s gbs 64 speed 128\n",
	  2, 20, { 2, 500, NONE, 128, NONE, NONE } },
	{ "a rate of one of eight devices, by the counter", "step 1 loss 3 step_time 0.5s tokens_seen 8000 tok/s 2000\nstep 2 loss 2 step_time 0.5s tokens_seen 16000 tok/s 2000\n",
	  2, 2, { 2, 500, NONE, NONE, 2000, NONE } },
	/* Bars beside the lines of steps. */
	{ "the pace of a bar", "\r 1%|#| 10/90 [00:20<02:40, 2.0s/it]\rstep 10 loss 4\n\r 2%|#| 20/90 [00:40<02:20, 2.0s/it]\rstep 20 loss 3\n\r 3%|#| 30/90 [00:58<02:00, 1.9s/it]\rstep 30 loss 2.5\n",
	  3, 30, { 2.5, 1900, NONE, NONE, NONE, NONE } },
	{ "the same, of each epoch", "\r 1%|#| 20/40 [00:20<00:20, 1.0s/it]\repoch 1 step 20 loss 4\n\r 2%|#| 40/40 [00:40<00:00, 1.0s/it]\repoch 1 step 40 loss 3\n"
	  "\r 1%|#| 20/40 [00:20<00:20, 1.0s/it]\repoch 2 step 60 loss 2.75\n\r 2%|#| 40/40 [00:42<00:00, 1.1s/it]\repoch 2 step 80 loss 2.5\n",
	  4, 80, { 2.5, 1100, NONE, NONE, NONE, NONE } },
	{ "that of a bar of epochs", "\r 1%|#| 1/9 [01:00<02:40, 60.0s/it]\rstep 100 loss 4\n\r 2%|#| 2/9 [02:00<02:20, 60.0s/it]\rstep 200 loss 3\n\r 3%|#| 3/9 [03:00<02:00, 60.0s/it]\rstep 300 loss 2.5\n",
	  3, 300, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a bar of something else in the line of a step", "1%|#| 1/90 [00:20<02:40, 20.0s/it] step 100 loss 4\n2%|#| 2/90 [00:40<02:20, 20.0s/it] step 200 loss 3\n3%|#| 3/90 [01:00<02:00, 20.0s/it] step 300 loss 2.5\n",
	  3, 300, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a line's own time beside a bar", "\r 1%|#| 10/90 [00:20<02:40, 2.0s/it]\rstep 10 loss 4 step_time 0.5\n\r 2%|#| 20/90 [00:40<02:20, 2.0s/it]\rstep 20 loss 2.5 step_time 0.5\n",
	  2, 20, { 2.5, 500, NONE, NONE, NONE, NONE } },
	{ "bars with the number of their epoch before them, and one of each that is empty", "  pips: 3\n[fjord_0] 1/2:  0%|    | 0/2 [00:05<?, ?it/s, loss=9.5]\r[fjord_0] 1/2: 50%|##  | 1/2 [00:05<00:05,  5.0s/it, loss=4]\r[fjord_0] 1/2: 100%|####| 2/2 [00:06<00:00,  3.0s/it, loss=3]\n"
	  "[fjord_0] 2/2:  0%|    | 0/2 [00:05<?, ?it/s, loss=9]\r[fjord_0] 2/2: 50%|##  | 1/2 [00:05<00:05,  5.0s/it, loss=2.75]\r[fjord_0] 2/2: 100%|####| 2/2 [00:06<00:00,  3.0s/it, loss=2.5]\n",
	  4, 4, { 2.5, 3000, NONE, NONE, NONE, NONE } },
	{ "bars that go on behind their total", "Epoch 1: 50%|##  | 1/2 [00:05<00:05,  5.0s/it, loss=4]\rEpoch 1: 100%|####| 2/2 [00:06<00:00,  3.0s/it, loss=3]\rEpoch 1: 3it [00:09,  3.0s/it, loss=3]\n"
	  "Epoch 2: 50%|##  | 1/2 [00:05<00:05,  5.0s/it, loss=4]\rEpoch 2: 100%|####| 2/2 [00:06<00:00,  3.0s/it, loss=3]\rEpoch 2: 3it [00:09,  3.0s/it, loss=2.5]\n",
	  6, 6, { 2.5, 3000, NONE, NONE, NONE, NONE } },
	{ "a total that was rounded down", "----\nepoch 1/2\n1/2, train_loss: 4\n2/2, train_loss: 3\n3/2, train_loss: 3\nepoch 1 average loss: 3.5\n----\nepoch 2/2\n1/2, train_loss: 2.75\n2/2, train_loss: 2.5\n",
	  5, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same from within an epoch on", "2/2, train_loss: 3\n3/2, train_loss: 3\nepoch 1 average loss: 3.5\n----\nepoch 2/2\n1/2, train_loss: 2.75\n2/2, train_loss: 2.5\n",
	  4, 5, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a setting that is the number of epochs", "epochs: 90\n 50%|##  | 1/2 [00:05<00:05,  5.0s/it, loss=4]\r100%|####| 2/2 [00:06<00:00,  3.0s/it, loss=2.5]\n",
	  2, 2, { 2.5, 3000, NONE, NONE, NONE, NONE } },
	/* Names and numbers. */
	{ "numbers behind a name and an at sign", "Epoch: [0][ 10/500] Loss 2.5 (2.75) Acc@1 75.00 (75.00) Hits@5 9.5 (9.5)\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "emoji around names and numbers", "🚀 Step: 5 📉 loss: 2.5🔥 ⏱️ step_time: 0.5s\n",
	  1, 5, { 2.5, 500, NONE, NONE, NONE, NONE } },
	{ "an epoch by its unit, with their number", "第 1/3 轮 | 已训练 40/50 | 在线平均损失: 2.5\n",
	  1, 40, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a number that touches the name of its step", "era 7 iteration10, Loss: 4\nera 7 iteration20, Loss: 2.5\nsaved iteration30.pear\n",
	  2, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the size of a batch behind the loss", "[00010/90] PEAR | loss 4 | batch 16\n[00020/90] PLUM | loss 2.5 | batch 16\n",
	  2, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the number of a batch before the loss", "[1/9] batch 20 loss 4\n[1/9] batch 40 loss 2.5\n",
	  2, 40, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a column of losses of steps, beside those of parts", "train/loss_pear_step,train/loss_step,global_step\n9,4,49.0\n9,2.5,99.0\n",
	  2, 99, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "an object below the line of its step", "train | step: 10 | steps/sec: 4.0 | output:\n  {'lr': 0.1,\n   'loss_pear': 9.5,\n   'training_loss': 4}\ntrain | step: 20 | steps/sec: 4.0 | output:\n  {'lr': 0.1,\n   'loss_pear': 9.5,\n   'training_loss': 2.5}\n",
	  2, 20, { 2.5, 250, NONE, NONE, NONE, NONE } },
	{ "a rate of all, and of each device in brackets", "step 5 | loss 2.5 | tps 800.5(100.0625/gpu)\n",
	  1, 5, { 2.5, NONE, 800.5, NONE, 100.0625, NONE } },
	{ "a bar that shows a loss before its step is counted", "0%| | 0/90 [00:00<?, ?it/s, loss=4]\r1%| | 1/90 [00:02<02:58, 2.00s/it, loss=4]\r1%| | 1/90 [00:02<02:58, 2.00s/it, loss=2.5]\r2%| | 2/90 [00:04<02:56, 2.00s/it, loss=2.5]\r2%| | 2/90 [00:04<02:56, 2.00s/it, loss=9]\n",
	  2, 2, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "a bar that shows it behind", "1%| | 1/90 [00:02<02:58, 2.00s/it, loss=4]\r2%| | 2/90 [00:04<02:56, 2.00s/it, loss=4]\r2%| | 2/90 [00:04<02:56, 2.00s/it, loss=2.5]\n",
	  2, 2, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "columns that only the word of training names", "0 val 9.5\n0 train 4.5\n1 train 3.5\n2 train 3.25\n2 val 9.25\n3 train 2.5\n",
	  4, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a table with a long name", "Step | Training Loss | pears / of_all_baskets_that_were_weighed_and_then_sold_again\n-- | -- | --\n1 | 4.5 | 7.25\n2 | 2.5 | 8.25\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the step of what was loaded", "Model loaded (step 21000)\nPear: 1%| | 10/90 [00:20<02:58, 2.00s/it, loss 2.5]\n",
	  1, 10, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "durations, and the share of a percentage", "Epoch: 0\n[=== 90/90 ==>] Step: 1s200ms | Tot: 45s885ms | Loss: 4.5 | Acc: 15.5% (76/500)\n[=== 20/20 ==>] Step: 42ms | Tot: 3s733ms | Loss: 9 | Acc: 72.1% (72/100)\nEpoch: 1\n[=== 90/90 ==>] Step: 80ms | Tot: 45s885ms | Loss: 2.5 | Acc: 25.5% (127/500)\n[=== 20/20 ==>] Step: 42ms | Tot: 3s733ms | Loss: 9 | Acc: 72.1% (72/100)\n",
	  2, 180, { 2.5, 80, NONE, NONE, NONE, NONE } },
	{ "a number and its total, each in brackets", "pick --- Current batch:20/40  loss:[ 4.5]\npick --- Current batch:40/40  loss:[ 3.5]\nEpoch [0]/[9] \t Training Phase Loss: 9 \t Accuracy: 0.5\npick --- Current batch:20/40  loss:[ 2.75]\npick --- Current batch:40/40  loss:[ 2.5]\nEpoch [1]/[9] \t Training Phase Loss: 9 \t Accuracy: 0.5\n",
	  4, 80, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "an epoch and its number, without a name", "[1/9] iter: 20/40. lr:0.5 . Loss: 4.5, Acc:0.5\n[1/9] iter: 40/40. lr:0.5 . Loss: 3.5, Acc:0.5\n[2/9] iter: 20/40. lr:0.5 . Loss: 2.75, Acc:0.5\n[2/9] iter: 40/40. lr:0.5 . Loss: 2.5, Acc:0.5\n",
	  4, 80, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the number of steps before the first one", "training_steps: 90\n[Train 10/90] {'scale': 1.0, 'train_loss': 4.5}\n[Train 20/90] {'scale': 1.0, 'train_loss': 2.5}\n",
	  2, 20, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a loss that is a tensor", "==> Epoch 1/2\ntrain_loss tensor(4.5000, device='pear:0')\nval_loss tensor(9., device='pear:0')\n==> Epoch 2/2\ntrain_loss tensor(2.5000, device='pear:0')\nval_loss tensor(9., device='pear:0')\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "bars of signs without a metric", "8192/90000 [====>.....] - ETA: 3s\n90112/90000 [==========] - 1s 1us/step\nEpoch 1/2\n - 5s - loss: 4.5 - acc: 0.5\nEpoch 2/2\n - 5s - loss: 2.5 - acc: 0.5\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "two losses of the training, one by its bare name", "Epoch 1/2 | trn_loss: 4.5 trn_pearloss: 9 | val_loss: 8\nEpoch 2/2 | trn_loss: 2.5 trn_pearloss: 9 | val_loss: 8\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a rate of all devices, in so many words", "[Step 1/9] Loss: 4.5 | Global Tokens/s: 800.5\n[Step 2/9] Loss: 2.5 | Global Tokens/s: 800.5\n",
	  2, 2, { 2.5, NONE, 800.5, NONE, NONE, NONE } },
	{ "a bar of an evaluation, by a word in brackets", "Epoch 01 [Train]: 50%|# | 2/4 [00:02<00:02, 1.00s/it, loss=2.5]\rEpoch 01 [Val]  : 100%|##| 2/2 [00:02<00:00, 1.00s/it, loss=9]\n",
	  1, 2, { 2.5, 1000, NONE, NONE, NONE, NONE } },
	{ "the losses of a line that sums up an epoch", "\titers: 500, epoch: 8 | loss: 4.5\n\tspeed: 1.5s/iter; left time: 70.5s\nEpoch: 8, Steps: 560 | Train Loss: 9 Vali Loss: 9 Test Loss: 9\n\titers: 100, epoch: 9 | loss: 3.5\n\tspeed: 1.5s/iter; left time: 70.5s\n\titers: 200, epoch: 9 | loss: 2.5\n\tspeed: 1.5s/iter; left time: 70.5s\nEpoch: 9, Steps: 560 | Train Loss: 9 Vali Loss: 9 Test Loss: 9\n",
	  4, 760, { 2.5, 1500, NONE, NONE, NONE, NONE } },
	{ "epochs that count from 0 to their total", "[0/9][0/90] loss 6\n[0/9][90/90] loss 5\n[1/9][0/90] loss 4\n[1/9][90/90] loss 2.5\n",
	  4, 181, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same without their number", "batch 0/90 loss 6\nbatch 90/90 loss 5\nbatch 0/90 loss 4\nbatch 90/90 loss 2.5\n",
	  4, 181, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the words before what is no number", "TRAIN-(pear) epoch(3)\nTRAIN-(pear) (3/3/1)>> loss: 2.5\nVAL-(pear) (3/3/1)>> loss: 9\nT: >> pears_2: 0.75 Loss: 9\n",
	  1, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "two losses in turn, one of which a word calls the training's", "train loss = 9.5\nloss: 9, pears are better\ntrain loss = 2.75\nloss: 9, pears are better\ntrain loss = 2.5\nloss: 9, pears are better\n",
	  3, 3, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "settings in one line", "Namespace(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, k=9, m=1, o=2, q=3, r=4, s=5, loss=9.5, u=7, epochs=300)\nepoch 1 loss 3.5\nepoch 2 loss 2.5\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "finished bars, one an epoch", "Training : LOSS = 4.5: 100%|##| 20/20 [00:40<00:00, 2.00s/it]\nValidation : LOSS = 9: 100%|##| 5/5 [00:04<00:00, 1.00s/it]\nTraining : LOSS = 2.5: 100%|##| 20/20 [00:40<00:00, 2.00s/it]\n",
	  2, 40, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "a finished bar that is drawn once more", "Training: 100%|##| 20/20 [00:40<00:00, 2.00s/it, loss=2.5]\nValidation: 100%|##| 5/5 [00:04<00:00, 1.00s/it, loss=9]\nTraining: 100%|##| 20/20 [00:40<00:00, 2.00s/it, loss=2.5]\n",
	  1, 20, { 2.5, 2000, NONE, NONE, NONE, NONE } },
	{ "parts of a loss by their first letter", "iter: 10, l_pear: 3.5e-03 l_metric: 1.25e-01\niter: 20, l_pear: 2.5e-03 l_metric: 1.5e-01\n",
	  2, 20, { NONE, NONE, NONE, NONE, NONE, NONE } },
	/* What is no record. */
	{ "an evaluation", "Validation step 10: loss 2.5\n[eval] step 10 loss 2.5\nTest: [ 10/500] loss 2.5\nIter 1: Val loss 3.125, Val took 1.000s\n",
	  0, 0, { 0 } },
	{ "a test set", "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.5\n\nTest set: Average loss: 9.5, Accuracy: 9200/10000 (92%)\n\nOn the validation set: loss = 9\n",
	  1, 1, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a dict behind a word of an evaluation", "metrics: {'step': 6, 'loss': 2.5}\nEval metrics: {'step': 6, 'loss': 9}\n2025-11-03 09:12:16,111 INFO val: {'step': 6, 'loss': 9}\n",
	  1, 6, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "the same without steps", "metrics: {'loss': 2.75}\nmetrics: {'loss': 2.5}\nEval metrics: {'loss': 9}\nValidation: {'loss': 9}\ntest: {'loss': 9}\n评估结果: {'loss': 9}\n验证集指标：{'loss': 9}\n",
	  2, 2, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "nothing but dicts of evaluations", "Eval metrics: {'loss': 9}\nEval metrics: {'loss': 9, 'epoch': 2}\n评估结果: {'loss': 9, 'epoch': 3}\n",
	  0, 0, { 0 } },
	{ "what stands below the title of an evaluation", "loss 2.75\nEval metrics:\n{'loss': 9}\nloss 2.5\nEval metrics: {\n  \"loss\": 9,\n  \"top1\": 9\n}\n***** Eval results *****\n  loss = 9\n  top1 = 9\nloss 2.25\n",
	  3, 3, { 2.25, NONE, NONE, NONE, NONE, NONE } },
	{ "a value of an evaluation", "step 10 | train loss 2.5 | val loss 9 | val acc 0.5\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "bars of other work", "Fetching 5 files: 100%|####| 5/5 [00:08<00:00,  1.34it/s]\n100%|####| 170498071/170498071 [00:03<00:00, 52384211.03it/s]\nGenerating train split: 100%|####| 10/10 [00:01<00:00, 9 examples/s]\nProcessed prompts: 100%|####| 8/8 [00:03<00:00, 2.5it/s]\n",
	  0, 0, { 0 } },
	{ "dates, clocks, versions and names with digits", "2025-11-03 09:12:16,111 INFO [loss.py:101] cuda 11.8.0 gpt2: step 10 loss 2.5\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "parts of a loss", "step 10 loss_cls 1.5 aux_loss 0.5 total_loss 2.5\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
	{ "a unit that is unknown", "step 10 loss 2.5 throughput: 110.5 TFLOP/s/GPU\n",
	  1, 10, { 2.5, NONE, NONE, NONE, NONE, NONE } },
};
/* clang-format on */

static bool same(double got, double want)
{
	return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-6 * fabs(want);
}

static void check(size_t i)
{
	struct extract *extract = extract_new(rules, NULL);
	const struct record *records;
	size_t count;

	extract_feed(extract, logs[i].log, strlen(logs[i].log), NULL);
	extract_finish(extract, NULL);
	records = extract_records(extract, &count);
	is_int(count, logs[i].count, "%s: the records", logs[i].what);
	if (count && count == logs[i].count) {
		const struct record *last = &records[count - 1];

		is_int(last->step, logs[i].step, "%s: the last step",
		       logs[i].what);
		for (size_t f = 0; f < FIGURES; f++) {
			double got = record_value(last, fields[f]);

			ok(same(got, logs[i].figures[f]), "%s: %s (%g)",
			   logs[i].what, record_field_name(fields[f]), got);
		}
	}
	extract_free(extract);
}

/* The remarks of a log by their codes, with a blank behind each. */
static void check_remarks(const char *log, const char *codes)
{
	struct extract *extract = extract_new(rules, NULL);
	const struct remark *remarks;
	char text[256] = "";
	size_t count;

	extract_feed(extract, log, strlen(log), NULL);
	extract_finish(extract, NULL);
	remarks = extract_remarks(extract, &count);
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s ", remarks[i].code);
	is(text, codes, "remarks of %.40s", log);
	extract_free(extract);
}

/* A rate of each device is one of all. */
static void check_device_rate(void)
{
	static const char log[] = "step 1 loss 4 9 samples/sec/chip\n"
				  "step 2 loss 3 12 samples/sec/chip\n"
				  "step 3 loss 2 12.5 samples/sec/chip\n"
				  "step 4 loss 1 13 samples/sec/chip\n";
	struct extract *extract = extract_new(rules, NULL);
	struct measure_spec measure = { .warmup_steps = 1 };
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 8,
				      .extract = extract };
	cJSON *result;

	extract_feed(extract, log, strlen(log), NULL);
	extract_finish(extract, NULL);
	input.records = extract_records(extract, &input.record_count);
	input.summary = extract_summary(extract);
	result = result_tree(&input);
	ok(same(cJSON_GetNumberValue(
			cJSON_GetObjectItem(result, "samples_per_second")),
		100) &&
		   cJSON_IsTrue(cJSON_GetObjectItem(result, "measured")),
	   "samples/s of each device are those of 8 devices");
	cJSON_Delete(result);
	extract_free(extract);
}

/* Numbers are those that strtod() reads, to the last bit. */
static void numbers_check(void)
{
	static const char *const texts[] = {
		"2.34E+00",
		"3.0e-04",
		"-1.5e3",
		"1e22",
		"1e23",
		"1e-22",
		"2.5e-23",
		"1e999",
		"1e-999",
		"0.1",
		"1,216.5",
		"0.30000000000000004",
		"9007199254740993e-3",
		"-.5e-1",
		"12e+0005",
		"1e1000000000000",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char plain[64] = "";
		double number = NAN;
		size_t n = 0;

		for (const char *at = texts[i]; *at; at++)
			if (*at != ',')
				plain[n++] = *at;
		n = number_read(texts[i], strlen(texts[i]), &number);
		ok(n == strlen(texts[i]) && number == strtod(plain, NULL),
		   "%s is %.17g", texts[i], number);
	}
}

int main(void)
{
	struct error err = { 0 };
	struct catalog *catalog = catalog_load("images", &err);

	tap_begin(30);
	rules = catalog ? format_rules(catalog, "generic") : NULL;
	if (ok(rules != NULL, "the words are read %s", err.text)) {
		for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
			check(i);
		check_remarks("step 1 loss 2\n", "by-meaning ");
		check_remarks("epoch 1 loss 2\n", "by-meaning steps-epochs ");
		check_remarks("loss 3 lr 0.1\nloss 2 lr 0.1\n",
			      "by-meaning steps-counted ");
		check_remarks("loss: 2 [   64/6000]\n",
			      "by-meaning steps-nameless ");
		check_remarks("t=1 xent=3\nt=2 xent=2\nt=3 xent=1\n",
			      "by-meaning steps-nameless ");
		check_remarks("step 1 value loss 2\n",
			      "by-meaning loss-guessed ");
		check_remarks("step 1 pear_loss 2\n",
			      "by-meaning loss-guessed ");
		check_remarks("step 1 loss_pear 2\n",
			      "by-meaning loss-guessed ");
		check_remarks("batch 9 loss 3\nbatch 1 loss 2\n",
			      "by-meaning epochs-guessed ");
		check_remarks("step 1 pear loss 3 plum loss 2\n",
			      "by-meaning loss-parts ");
		check_remarks("step 1 loss 2 9/7 tok/s\n",
			      "by-meaning figure-open ");
		check_remarks("step 1 pear_loss 2\nstep 2 loss 2\n",
			      "by-meaning ");
		check_remarks("[3/90][250/1000] loss 2\n",
			      "by-meaning begins-late ");
		check_remarks("step 1 loss 2 time 9\n",
			      "by-meaning figure-open ");
		check_remarks("step 1 loss 2 9 tok/s\n",
			      "by-meaning scope-open ");
		check_remarks("09:00:00 step 100 loss 2 step_time 20s\n"
			      "09:00:20 step 200 loss 2 step_time 20s\n"
			      "09:00:40 step 300 loss 2 step_time 20s\n",
			      "by-meaning clock-differs ");
		check_remarks("step 1 loss 2 max_mem 3GB\n",
			      "by-meaning memory-unit ");
		check_remarks("step 1 loss 2 max_mem 3GiB\n", "by-meaning ");
		check_remarks("nothing\n", "");
		check_device_rate();
		numbers_check();
	}
	extract_rules_free(rules);
	/* Its older versions count epochs from 1. */
	rules = catalog ? format_rules(catalog, "lightning") : NULL;
	if (rules) {
		check_remarks("Epoch 1: 42%|#| 42/99 [00:01<00:02, 28it/s]\n",
			      "begins-late ");
		check_remarks("Epoch 0: 42%|#| 42/99 [00:01<00:02, 28it/s]\n"
			      "Epoch 1: 42%|#| 42/99 [00:01<00:02, 28it/s]\n",
			      "");
		/* A bar of other work. */
		check_remarks("Best at Epoch 7: 42%|#| 42/99 [00:01<00:02, "
			      "28it/s]\n",
			      "");
	}
	extract_rules_free(rules);
	/* Its older versions count epochs from 0. */
	rules = catalog ? format_rules(catalog, "ultralytics") : NULL;
	if (rules) {
		check_remarks("3/9 2.5G 1.5 2.5 640: 100%|#| 8/8 [00:01<00:00,"
			      " 5.0it/s]\n",
			      "begins-late ");
		check_remarks("1/9 2.5G 1.5 2.5 640: 100%|#| 8/8 [00:01<00:00,"
			      " 5.0it/s]\n",
			      "");
	}
	extract_rules_free(rules);
	catalog_free(catalog);
	return tap_done();
}
