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

/// Whether the short name is an abbreviation: "TTFT".
bool isAbbreviated(const QString& words) {
  return words == words.toUpper();
}

/// Returns the unit of a heading with a space before it: " ms". Empty: the heading has no unit.
QString unitOf(std::string_view id) {
  const metrics::Metric& metric = metrics::get(id);
  return QString::fromStdString(metrics::heading(metric)).mid(QString::fromUtf8(metric.name).size());
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
  return metricName(id) + unitOf(id);
}

QString metricShortHeading(std::string_view id) {
  return metricShortTitle(id) + unitOf(id);
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

QString metricShare(std::string_view part, std::string_view whole, const metrics::Totals& totals) {
  const auto valueOf = [&totals](std::string_view id) {
    return static_cast<std::int64_t>(metrics::get(id).number(totals).value_or(0));
  };
  return metricShare(part, valueOf(part), whole, valueOf(whole));
}

QString metricPart(std::string_view part, const QString& partText, std::string_view whole,
                   const QString& wholeText) {
  return tr("%1 of %2 %3 %4").arg(partText, wholeText, metricName(whole), metricShortName(part));
}

QString metricShare(std::string_view part, const QString& partText, std::string_view whole,
                    const QString& wholeText, const QString& share) {
  return tr("%1 (%2)").arg(metricPart(part, partText, whole, wholeText), share);
}

QString metricText(const metrics::Metric& metric, const std::optional<metrics::Value>& value) {
  return value ? QString::fromStdString(metrics::text(metric.unit, *value)) : QStringLiteral("–");
}

QStringList metricPhrases(std::initializer_list<std::string_view> ids, const metrics::Totals& totals) {
  QStringList phrases;
  for (const std::string_view id : ids) {
    const double value = metrics::get(id).number(totals).value_or(0);
    if (value > 0) phrases << metricPhrase(id, value);
  }
  return phrases;
}

QStringList metricPhrases(std::initializer_list<std::string_view> ids,
                          const metrics::PredictedAccount& account) {
  QStringList phrases;
  for (const std::string_view id : ids) {
    const std::optional<metrics::CountRange> range = metrics::get(id).of(account);
    if (range && range->most > 0) phrases << metricPhrase(id, rangeText(*range));
  }
  return phrases;
}

QString rangeText(const metrics::CountRange& range) {
  if (!range.bounded()) return tr("%1 or more").arg(range.least);
  return range.known() ? QString::number(range.least)
                       : QStringLiteral("%1–%2").arg(range.least).arg(range.most);
}

QString predictedText(std::string_view id, const metrics::PredictedAccount& account) {
  const std::optional<metrics::CountRange> range = metrics::get(id).of(account);
  return range ? rangeText(*range) : QStringLiteral("?");
}

QString metricCell(const metrics::Metric& metric, const std::optional<metrics::Value>& value) {
  return value ? QString::fromStdString(metrics::exactText(metric.unit, *value)) : QString();
}

}  // namespace spanscope::ui
