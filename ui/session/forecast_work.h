// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/service/work.h"
#include "ui/session/forecast.h"
#include "ui/session/forecaster.h"

#include <memory>
#include <stop_token>

namespace spanscope::ui {

/// Says what a run would find.
class ForecastWork final : public workbench::Work {
 public:
  /// `forecaster`: not null.
  ForecastWork(std::shared_ptr<Forecaster> forecaster, ForecastRequest request);

  workbench::Begun begin(workbench::Workplace& place, const std::stop_token& stop) override;

  /// The forecast, once the work has ended; null where it was stopped.
  const std::shared_ptr<const Forecast>& forecast() const { return m_forecast; }

 private:
  std::shared_ptr<Forecaster> m_forecaster;
  ForecastRequest m_request;
  std::shared_ptr<const Forecast> m_forecast;
};

}  // namespace spanscope::ui
