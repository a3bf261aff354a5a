// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/abba.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"tokens", forTranslation("Experiments", "Tokens per document"),
                    forTranslation("Experiments", "Generated documents, from short to long"),
                    "64,128,256,512,1024", FieldKind::Numbers, 1, 65'536},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Number of documents that change places"), "2",
                    FieldKind::Number, 2, 100},
    ExperimentField{"question", forTranslation("Experiments", "Tokens of the question"),
                    forTranslation("Experiments", "New in every run"), "32", FieldKind::Number, 1, 4096}};
constexpr std::array kMeasures = {
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 2, true}};

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  AbbaOptions options{.documentTokens = numbersOf(result.request, "tokens"),
                      .documents = numberOf(result.request, "documents"),
                      .questionTokens = numberOf(result.request, "question"),
                      .repeats = result.request.repeats,
                      .seconds = 0,
                      .coldRepeats = result.request.repeats,
                      .seed = result.request.seed,
                      .seam = model.seam};
  const model::ModelConfig& config = model.decoder.config();
  std::erase_if(options.documentTokens, [&](std::int32_t tokens) {
    const std::int64_t prompt =
        options.systemTokens + std::int64_t{options.documents} * tokens + options.questionTokens;
    return prompt >= config.maxPositions;
  });
  Study study(result, model, report, stop,
              options.documentTokens.empty() ? 0 : abbaBlocks(options, model.session.blockSize));
  const std::size_t asked = numbersOf(result.request, "tokens").size();
  study.remarkLeftOut(asked - options.documentTokens.size(), config.maxPositions);
  result.total = options.documentTokens.size();
  if (!options.documentTokens.empty()) {
    study.begin("warming up");
    AbbaOptions once = options;
    once.repeats = 1;
    once.coldRepeats = 1;
    if (study.counts())
      study.count(abbaAmount(once, options.documentTokens.front()));
    else
      measureAbba(study.session(), config.vocabularySize, once, options.documentTokens.front(), stop);
  }
  for (const std::int32_t tokens : options.documentTokens) {
    study.begin(counted(tokens, "token") + " per document");
    if (study.counts()) {
      study.count(abbaAmount(options, tokens));
      study.step();
      continue;
    }
    const AbbaRow row = measureAbba(study.session(), config.vocabularySize, options, tokens, stop);
    const auto add = [&](const char* series, const AbbaCase& measured) {
      for (const double seconds : measured.seconds.samples)
        study.add(series, tokens, {seconds * kMilliseconds});
    };
    add("empty cache", row.cold);
    add("same order", row.same);
    add("order swapped", row.swapped);
    study.step();
  }
}

}  // namespace

const Experiment kRelocationStudy{
    .name = "relocation",
    .title = forTranslation("Experiments", "Cost of relocation"),
    .brief = forTranslation("Experiments",
                            "Does another order of cached documents cost time? The experiment compares the "
                            "same order, the swapped order and an empty cache, each with a new question."),
    .xName = forTranslation("Experiments", "tokens per document"),
    .isXLogarithmic = true,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 9,
    .measure = measure};

}  // namespace spanscope::experiment
