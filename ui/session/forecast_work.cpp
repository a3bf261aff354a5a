// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/forecast_work.h"

#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::ui {

ForecastWork::ForecastWork(std::shared_ptr<Forecaster> forecaster, ForecastRequest request)
    : m_forecaster(std::move(forecaster)), m_request(std::move(request)) {}

workbench::Begun ForecastWork::begin(workbench::Workplace& place, const std::stop_token& stop) {
  std::optional<Forecast> made =
      m_forecaster->forecast(m_request, place.openSessionFor(m_request.settings), place.model().get(), stop);
  if (made) m_forecast = std::make_shared<const Forecast>(std::move(*made));
  return workbench::Begun::Done;
}

}  // namespace spanscope::ui
