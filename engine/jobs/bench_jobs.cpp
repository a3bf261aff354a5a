// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/bench_jobs.h"

#include "engine/base/counted.h"
#include "engine/workbench/experiment_model.h"

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

}  // namespace spanscope::jobs
