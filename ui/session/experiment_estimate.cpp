// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/experiment_estimate.h"

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

QString estimateText(const ExperimentEstimate& estimate) {
  switch (estimate.state) {
    case ExperimentEstimate::State::Waits:
    case ExperimentEstimate::State::Unknown:
      return {};
    case ExperimentEstimate::State::NotLoaded:
      return tr("The duration is unknown until the model is loaded.");
    case ExperimentEstimate::State::Counted:
      return estimate.seconds
                 ? tr("Takes %1.").arg(shownDuration(*estimate.seconds))
                 : tr("The duration is unknown until this model has answered once on this device.");
  }
  return {};
}

}  // namespace spanscope::ui
