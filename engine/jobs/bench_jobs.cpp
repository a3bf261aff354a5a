// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/bench_jobs.h"

#include "engine/base/counted.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/experiment_model.h"

#include <algorithm>
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

}  // namespace

void LoadTimesJob::measure(LoadTimesRows& result, const LoadTimesChoice& choice, Measurement& at) {
  const experiment::ExperimentModel model = workbench::experimentModelOf(at.model(), at.sessionConfig());
  measureRows(
      result, at, choice.tokens,
      [](std::int32_t tokens) { return "measuring " + counted(tokens, "token"); },
      [&](std::int32_t tokens) {
        const experiment::ScratchFolder folder(experiment::scratchPlace(choice.folder, model.scratch));
        return experiment::measureLoadTimes(model.open, model.session,
                                            model.decoder.config().vocabularySize,
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
      result, at, choice.tests,
      [](const experiment::SpeedTest& test) { return "measuring " + test.name(); },
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

}  // namespace spanscope::jobs
