// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/bench_jobs.h"

#include "engine/base/counted.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/experiment_model.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace spanscope::jobs {
namespace {

/// Measures a row for each case. `doing` describes the case, and `measure` returns its row.
template <class Rows, class Case, class Doing, class Measure>
void measureRows(Rows& result, Measurement& at, const std::vector<Case>& cases, const Doing& doing,
                 const Measure& measure) {
  result.total = cases.size();
  for (const Case& one : cases) {
    result.doing = doing(one);
    at.report();
    at.pass();
    result.rows.push_back(measure(one));
  }
  result.doing.clear();
}

using experiment::AskedQuestion;

std::int32_t sumOf(const std::vector<experiment::SourceCount>& counts) {
  std::int32_t sum = 0;
  for (const experiment::SourceCount& count : counts) sum += count.both();
  return sum;
}

/// `chosenOn`, `reportedOn`: the questions by row.
std::vector<SourceFound> rankMeasures(const std::vector<std::vector<AskedQuestion>>& chosenOn,
                                      const std::vector<std::vector<AskedQuestion>>& reportedOn) {
  // With more heads, the measure would fit only the questions that were used to choose the heads.
  constexpr std::size_t kMostHeads = 4;
  std::vector<experiment::SourceMeasure> measures = experiment::sourceMeasures();
  std::vector<AskedQuestion> all;
  for (const std::vector<AskedQuestion>& part : chosenOn) all.insert(all.end(), part.begin(), part.end());
  measures.push_back(experiment::headsMeasure(experiment::bestHeads(all, kMostHeads)));
  std::vector<SourceFound> found;
  for (const experiment::SourceMeasure& measure : measures) {
    SourceFound& one = found.emplace_back(SourceFound{.name = measure.name, .formula = measure.formula});
    for (const auto& part : chosenOn) one.chosenOn.push_back(experiment::countFound(part, measure.read));
    for (const auto& part : reportedOn) one.reportedOn.push_back(experiment::countFound(part, measure.read));
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const SourceFound& one) { return sumOf(one.chosenOn); });
  return found;
}

}  // namespace

void LoadTimesJob::measure(LoadTimesRows& result, const LoadTimesChoice& choice, Measurement& at) {
  const experiment::ExperimentModel model = workbench::experimentModelOf(at.model(), at.sessionConfig());
  measureRows(
      result, at, choice.tokens, [](std::int32_t tokens) { return "measuring " + counted(tokens, "token"); },
      [&](std::int32_t tokens) {
        const experiment::ScratchFolder folder(experiment::scratchPlace(choice.folder, model.scratch));
        return experiment::measureLoadTimes(model.open, model.session, model.decoder.config().vocabularySize,
                                            {.tokens = tokens,
                                             .repeats = choice.repeats,
                                             .seed = choice.seed,
                                             .folder = folder.path(),
                                             .seam = [&at] { at.pass(); }},
                                            at.stop());
      });
}

void SpeedJob::measure(SpeedRows& result, const SpeedChoice& choice, Measurement& at) {
  workbench::ModelBundle& model = at.model();
  experiment::SpeedOptions options;
  options.rowsPerPass = std::max(options.rowsPerPass, model.device.kind.rowsPerPass);
  options.repeats = choice.repeats;
  options.kvType = *workbench::suited(at.sessionConfig(), model.device.kind).kvType;
  options.weightElementBytes = model.weightElementBytes();
  options.arithmetic = model.arithmeticRate();
  const compute::RateMeter measureMachine = model.device.kind.meter(model.backendOptions());
  measureRows(
      result, at, choice.tests, [](const experiment::SpeedTest& test) { return "measuring " + test.name(); },
      [&](const experiment::SpeedTest& test) {
        return experiment::measureSpeed(*model.decoder, *model.backend, test, options, measureMachine,
                                        at.stop());
      });
}

void NeedleJob::measure(NeedleRows& result, const experiment::NeedleOptions& choice, Measurement& at) {
  experiment::NeedleOptions options = choice;
  options.seam = [&at] { at.pass(); };
  std::vector<std::pair<std::int32_t, std::int32_t>> cases;
  for (const std::int32_t words : options.hayWords) {
    for (const std::int32_t portion : options.portions) cases.emplace_back(words, portion);
  }
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(at.model(), at.sessionConfig(), sink);
  measureRows(
      result, at, cases,
      [](const auto& one) {
        return "filler text: " + counted(one.first, "word") + ", " + experiment::groupName(one.second);
      },
      [&](const auto& one) {
        return experiment::measureNeedle(*session, options, one.first, one.second, at.stop());
      });
}

void SourcesJob::measure(SourcesRows& result, const SourcesChoice& choice, Measurement& at) {
  experiment::AnswerSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(at.model(), at.sessionConfig(), sink);
  const auto ask = [&](std::int32_t documents, std::uint64_t seed) {
    result.doing = "questions about " + counted(documents, "document") + ", seed " + std::to_string(seed);
    at.report();
    at.pass();
    return experiment::askQuestions(*session, sink,
                                    {.documents = documents, .rivals = choice.rivals, .seed = seed},
                                    choice.questions, at.model().config.layers, at.stop());
  };
  const auto tally = [](const std::vector<AskedQuestion>& asked) {
    return SourceTally{.asked = experiment::countAsked(asked), .right = experiment::countRight(asked)};
  };
  result.total = choice.documents.size();
  std::vector<std::vector<AskedQuestion>> chosenOn;
  std::vector<std::vector<AskedQuestion>> reportedOn;
  for (const std::int32_t documents : choice.documents) {
    chosenOn.push_back(ask(documents, choice.seed));
    reportedOn.push_back(ask(documents, choice.reportSeed));
    result.rows.push_back(
        {.documents = documents, .chosenOn = tally(chosenOn.back()), .reportedOn = tally(reportedOn.back())});
  }
  result.doing.clear();
  result.found = rankMeasures(chosenOn, reportedOn);
}

}  // namespace spanscope::jobs
