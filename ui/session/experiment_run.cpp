// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/experiment_run.h"

#include <QStringList>

namespace spanscope::ui {
namespace {

const QLatin1String kEstimate("estimate:");
const QLatin1String kRepeats("repeats");
const QLatin1String kSource("source");
const QLatin1String kOwn("own");
const QLatin1String kExpected("expected");

/// Paths may hold what parts fields from each other.
QString guarded(QString value) {
  return value.replace(QLatin1Char('%'), QStringLiteral("%25"))
      .replace(QLatin1Char(';'), QStringLiteral("%3B"));
}

QString unguarded(QString value) {
  return value.replace(QStringLiteral("%3B"), QStringLiteral(";"))
      .replace(QStringLiteral("%25"), QStringLiteral("%"));
}

}  // namespace

QString experimentRequestText(const experiment::ExperimentRequest& request) {
  QStringList parts{QString::fromStdString(request.experiment)};
  for (const auto& [key, value] : request.values)
    parts += QString::fromStdString(key) + QLatin1Char('=') + guarded(QString::fromStdString(value));
  if (request.source == experiment::DocumentSource::Own) parts += kSource + QLatin1Char('=') + kOwn;
  if (!request.expected.empty())
    parts += kExpected + QLatin1Char('=') + guarded(QString::fromStdString(request.expected));
  if (request.repeats > 0) parts += kRepeats + QLatin1Char('=') + QString::number(request.repeats);
  return parts.join(QLatin1Char(';'));
}

QString experimentEstimateText(const QString& request) {
  return kEstimate + request;
}

QString askedEstimate(const QString& text) {
  return text.startsWith(kEstimate) ? text.mid(kEstimate.size()) : QString();
}

std::optional<experiment::ExperimentRequest> readExperimentRequest(const QString& text) {
  QStringList parts = text.split(QLatin1Char(';'));
  experiment::ExperimentRequest request;
  request.experiment = parts.takeFirst().toStdString();
  if (experiment::findExperiment(request.experiment) == nullptr) return std::nullopt;
  for (const QString& part : parts) {
    const qsizetype equals = part.indexOf(QLatin1Char('='));
    if (equals < 1) return std::nullopt;
    const QString key = part.left(equals);
    const QString value = unguarded(part.mid(equals + 1));
    if (key == kRepeats)
      request.repeats = value.toInt();
    else if (key == kSource)
      request.source = value == kOwn ? experiment::DocumentSource::Own : experiment::DocumentSource::Made;
    else if (key == kExpected)
      request.expected = value.toStdString();
    else
      request.values[key.toStdString()] = value.toStdString();
  }
  return request;
}

}  // namespace spanscope::ui
