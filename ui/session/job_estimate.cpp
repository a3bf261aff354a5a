// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/job_estimate.h"

#include "engine/jobs/job.h"
#include "ui/session/document_predictor.h"
#include "ui/session/view_input.h"
#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

QString textOf(const experiment::Duration& duration) {
  switch (duration.unit) {
    case experiment::DurationUnit::Seconds:
      return tr("%1 s").arg(duration.value);
    case experiment::DurationUnit::Minutes:
      return tr("%1 min").arg(duration.value);
    case experiment::DurationUnit::Hours:
      return tr("%1 h").arg(duration.value);
  }
  return {};
}

}  // namespace

QString shownDuration(const experiment::SecondsRange& seconds) {
  const experiment::DurationSpan span = experiment::roundedSpan(seconds);
  return span.isOne() ? tr("about %1").arg(textOf(span.least))
                      : tr("%1 to %2").arg(textOf(span.least), textOf(span.most));
}

QString estimateText(const AskedEstimate& estimate) {
  switch (estimate.state) {
    case AskedEstimate::State::Waits:
    case AskedEstimate::State::Unknown:
      return {};
    case AskedEstimate::State::NotLoaded:
      return tr("The duration is unknown until the model is loaded.");
    case AskedEstimate::State::Counted:
      return estimate.seconds ? tr("Takes %1.").arg(shownDuration(*estimate.seconds))
                              : tr(/*id:duration-needs-answer*/
                                   "The duration is unknown until this model has answered once on "
                                   "this device.");
  }
  return {};
}

const AskedEstimate* findEstimate(const MeasuredJobs& jobs, const jobs::JobCall& call) {
  const auto found = jobs.find(call.kind);
  if (found == jobs.end() || !found->second.estimate) return nullptr;
  return found->second.estimate->call == call ? found->second.estimate.get() : nullptr;
}

QString estimateText(const ViewInput& input, const jobs::JobCall& call) {
  using State = AskedEstimate::State;
  const jobs::JobRow* row = jobs::findJob(call.kind);
  if (row == nullptr) return {};
  jobs::EstimateFacts facts{.pace = input.models.pace, .context = input.models.context};
  const auto& prediction = input.prediction.newest;
  if (prediction && prediction->isKnown() && prediction->plan) {
    facts.empty = &prediction->empty;
    facts.plan = &*prediction->plan;
  }
  const std::optional<jobs::JobEstimate> estimate = row->estimate(call.arguments, facts);
  if (estimate) return estimateText({.call = call, .state = State::Counted, .seconds = estimate->seconds});
  return estimateText({.call = call, .state = input.models.context > 0 ? State::Unknown : State::NotLoaded});
}

QString withTimeLeft(const std::optional<double>& secondsLeft, const QString& doing) {
  return secondsLeft ? tr("%1 left: %2").arg(shownDuration({*secondsLeft, *secondsLeft}), doing) : doing;
}

}  // namespace spanscope::ui
