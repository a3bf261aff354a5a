// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/metric_words.h"

#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

QString translated(const char* words) {
  return QCoreApplication::translate("Metrics", words);
}

QString capitalised(QString words) {
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

/// Whether the short name is made of first letters: "TTFT".
bool isAbbreviated(const QString& words) {
  return words == words.toUpper();
}

}  // namespace

QString metricName(std::string_view id) {
  return translated(metrics::get(id).name);
}

QString metricTitle(std::string_view id) {
  return capitalised(metricName(id));
}

QString metricShortName(std::string_view id) {
  return translated(metrics::get(id).shortName);
}

QString metricShortTitle(std::string_view id) {
  return capitalised(metricShortName(id));
}

QString metricLongTitle(std::string_view id) {
  const QString own = metricShortName(id);
  return isAbbreviated(own) ? QStringLiteral("%1 (%2)").arg(metricTitle(id), own) : metricTitle(id);
}

QString metricMeaning(std::string_view id) {
  return capitalised(translated(metrics::get(id).meaning)) + QLatin1Char('.');
}

QString metricExplanation(std::string_view id) {
  return QStringLiteral("%1: %2.").arg(metricTitle(id), translated(metrics::get(id).meaning));
}

QString metricHeading(std::string_view id) {
  const metrics::Metric& metric = metrics::get(id);
  const QString unit =
      QString::fromStdString(metrics::heading(metric)).mid(QString::fromUtf8(metric.name).size());
  return metricName(id) + unit;
}

QString metricPhrase(std::string_view id, double value) {
  const metrics::Metric& metric = metrics::get(id);
  return metricPhrase(id, QString::fromStdString(metrics::text(metric.unit, value)));
}

QString metricPhrase(std::string_view id, const QString& count) {
  const QString name = metricShortName(id);
  return metrics::get(id).isTime() ? QStringLiteral("%1 %2").arg(name, count)
                                   : QStringLiteral("%1 %2").arg(count, name);
}

QString metricShare(std::string_view part, std::int64_t partValue, std::string_view whole,
                    std::int64_t wholeValue) {
  return metricShare(part, QString::number(partValue), whole, QString::number(wholeValue),
                     QString::fromStdString(metrics::shareText(partValue, wholeValue)));
}

QString metricShare(std::string_view part, const QString& partText, std::string_view whole,
                    const QString& wholeText, const QString& share) {
  return tr("%1 of %2 %3 %4 (%5)").arg(partText, wholeText, metricName(whole), metricShortName(part), share);
}

QString metricText(const metrics::Metric& metric, const std::optional<metrics::Value>& value) {
  return value ? QString::fromStdString(metrics::text(metric.unit, *value)) : QStringLiteral("–");
}

QString metricCell(const metrics::Metric& metric, const std::optional<metrics::Value>& value) {
  return value ? QString::fromStdString(metrics::exactText(metric.unit, *value)) : QString();
}

}  // namespace spanscope::ui
