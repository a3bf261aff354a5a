// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/benches.h"

#include "engine/jobs/bench_jobs.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/experiment.h"

#include <cstddef>
#include <string_view>

namespace spanscope::jobs {
namespace {

/// The first question in a text that may begin with other sentences.
std::string questionIn(std::string_view text) {
  const std::size_t end = text.find('?') + 1;
  const std::size_t before = text.rfind(". ", end);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 2;
  return std::string(text.substr(begin, end - begin));
}

std::vector<Bench> allBenches() {
  std::vector<Bench> all{
      {.name = "run",
       .title = "Run a query repeatedly: with an empty cache, in the same order, swapped, and without plus",
       .question = "How much time does the cache save on this query?",
       .example = "--repeats 7 resources/queries/rag.json",
       .job = BenchmarkJob::kId},
      {.name = "abba",
       .title = "Measure the same documents in the same order and swapped, each with a new question",
       .question = "How much time does the relocation of documents cost?",
       .example = "--shape 21m --sizes 64,512,4096",
       .job = BenchmarkJob::kId},
      {.name = "speed",
       .title = "Compare the speed of prompts (pp) and generation (tg) with the limits of the machine",
       .question = "How close is the engine to the limits of the machine?",
       .example = "--shape llama-1b --threads 2",
       .job = SpeedJob::kId},
      {.name = "start",
       .title = "Measure the loading time of a model and the time of its first forward pass",
       .question = "How soon is a model loaded, and its first token generated?",
       .example = "--model models/SmolLM2-135M.gguf"},
      {.name = "cache",
       .title =
           "Compare the time to load a document's blocks from memory and disk with the time to compute them",
       .question = "Is a stored document loaded faster than it is computed?",
       .example = "--sizes 128,512,2048",
       .job = LoadTimesJob::kId},
      {.name = "ops",
       .title = "Compare the time of each operation with the limit of the device",
       .question = "How close is each operation to the limits of the device?",
       .example = "--shape 21m --rows 1,64"},
      {.name = "needle",
       .title = "Find names in filler text, from all documents together and in groups (attention locality)",
       .question = "Does the model find names in long prompts, and do groups of documents help?",
       .example = "--hay 0,40,80 --trials 10 --picture pictures",
       .job = NeedleJob::kId},
      {.name = "sources",
       .title = "Find the measure of attention that ranks needed documents best",
       .question = "Does attention show which documents an answer used?",
       .example = "--documents 8,20 --picture pictures",
       .job = SourcesJob::kId}};
  for (const experiment::Experiment* one : experiment::experiments()) {
    all.push_back({.name = one->name,
                   .title = one->title,
                   .question = questionIn(one->brief),
                   .example = std::string("--repeats 3 --picture ") + one->name + ".svg",
                   .job = ExperimentJob::kId,
                   .experiment = one});
  }
  return all;
}

}  // namespace

const std::vector<Bench>& benches() {
  static const std::vector<Bench> all = allBenches();
  return all;
}

}  // namespace spanscope::jobs
