// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/load_comparison.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace spanscope::ui {
namespace {

using Member = double LoadTiming::*;

/// The names of the experiment's lines, which are also the keys in the settings.
constexpr std::array kCases = {std::pair<const char*, Member>{"computed", &LoadTiming::computed},
                               std::pair<const char*, Member>{"host", &LoadTiming::host},
                               std::pair<const char*, Member>{"disk", &LoadTiming::disk},
                               std::pair<const char*, Member>{"cold disk", &LoadTiming::coldDisk}};

bool isWhole(const LoadTiming& timing) {
  return timing.tokens > 0 && std::all_of(kCases.begin(), kCases.end(), [&](const auto& one) {
           return std::isfinite(timing.*one.second) && timing.*one.second > 0;
         });
}

std::optional<LoadComparison> readLoad(const QString& text) {
  const QJsonObject json = QJsonDocument::fromJson(text.toUtf8()).object();
  LoadComparison load;
  load.model = json[QLatin1String("model")].toString().toStdString();
  load.machine = json[QLatin1String("machine")].toString().toStdString();
  load.measured = QDateTime::fromString(json[QLatin1String("measured")].toString(), Qt::ISODate);
  const QJsonArray timings = json[QLatin1String("timings")].toArray();
  for (const auto& each : timings) {
    const QJsonObject one = each.toObject();
    LoadTiming timing{.tokens = one[QLatin1String("tokens")].toInt()};
    for (const auto& [name, member] : kCases) timing.*member = one[QLatin1String(name)].toDouble();
    if (isWhole(timing)) load.timings.push_back(timing);
  }
  if (load.model.empty() || load.timings.empty() || !load.measured.isValid()) return std::nullopt;
  return load;
}

}  // namespace

const LoadTiming& LoadComparison::near(std::int32_t tokens) const {
  return *std::min_element(timings.begin(), timings.end(),
                           [tokens](const LoadTiming& a, const LoadTiming& b) {
                             return std::abs(a.tokens - tokens) < std::abs(b.tokens - tokens);
                           });
}

std::optional<LoadComparison> loadComparisonOf(const experiment::ExperimentResult& result,
                                               const QDateTime& measured) {
  if (result.request.experiment != "load") return std::nullopt;
  std::map<std::int32_t, LoadTiming> found;
  for (const experiment::ExperimentPoint& point : result.points) {
    const auto tokens = static_cast<std::int32_t>(point.x);
    for (const auto& [name, member] : kCases) {
      if (point.series != name || point.samples.empty()) continue;
      found[tokens].tokens = tokens;
      found[tokens].*member = experiment::summarize(point.samples.front()).median;
    }
  }
  LoadComparison load{.model = result.model, .machine = result.machine, .measured = measured, .timings = {}};
  for (const auto& [tokens, timing] : found) {
    if (isWhole(timing)) load.timings.push_back(timing);
  }
  if (load.timings.empty()) return std::nullopt;
  return load;
}

QStringList loadTexts(const LoadComparisons& loads) {
  QStringList texts;
  for (const auto& [model, load] : loads.byModel) {
    QJsonArray timings;
    for (const LoadTiming& timing : load.timings) {
      QJsonObject one{{QStringLiteral("tokens"), timing.tokens}};
      for (const auto& [name, member] : kCases) one[QLatin1String(name)] = timing.*member;
      timings.append(one);
    }
    const QJsonObject json{{QStringLiteral("model"), QString::fromStdString(model)},
                           {QStringLiteral("machine"), QString::fromStdString(load.machine)},
                           {QStringLiteral("measured"), load.measured.toString(Qt::ISODate)},
                           {QStringLiteral("timings"), timings}};
    texts += QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
  }
  return texts;
}

LoadComparisons readLoads(const QStringList& texts) {
  LoadComparisons loads;
  for (const QString& text : texts) {
    if (std::optional<LoadComparison> load = readLoad(text)) loads.byModel[load->model] = std::move(*load);
  }
  return loads;
}

}  // namespace spanscope::ui
