// SPDX-License-Identifier: GPL-3.0-or-later
// The words of metrics (engine/metrics/metric_table.h) in the window. `id` is the id of a metric in the
// table.
#pragma once

#include "engine/metrics/metric_table.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace spanscope::ui {

QString metricName(std::string_view id);        ///< "cached tokens"
QString metricTitle(std::string_view id);       ///< "Cached tokens"
QString metricShortName(std::string_view id);   ///< "cached"
QString metricShortTitle(std::string_view id);  ///< "Cached"
/// "Time to first token (TTFT)" where the short name is an abbreviation; else the title.
QString metricLongTitle(std::string_view id);
/// The meaning of the metric, as a sentence.
QString metricMeaning(std::string_view id);
/// "Time to first token: from the moment … ."
QString metricExplanation(std::string_view id);
/// The heading of a column of a file: "time to first token ms".
QString metricHeading(std::string_view id);
/// The same with the short name, for the heading of a narrow column: "TTFT ms", "Memory MiB".
QString metricShortHeading(std::string_view id);
/// "12 cached", "TTFT 3.1 ms": a value with its short name.
QString metricPhrase(std::string_view id, double value);
/// The same for a count that is already a text: "12–14 cached".
QString metricPhrase(std::string_view id, const QString& count);
/// "70 of 83 prompt tokens cached (84 %)": `part` of `whole`, both ids.
QString metricShare(std::string_view part, std::int64_t partValue, std::string_view whole,
                    std::int64_t wholeValue);
/// The same for a request or a run.
QString metricShare(std::string_view part, std::string_view whole, const metrics::Totals& totals);
/// The same without the share: "70 of 83 prompt tokens cached".
QString metricPart(std::string_view part, const QString& partText, std::string_view whole,
                   const QString& wholeText);
/// The same for values that are already texts: "70–72 of 83 prompt tokens cached (84–87 %)".
QString metricShare(std::string_view part, const QString& partText, std::string_view whole,
                    const QString& wholeText, const QString& share);
/// "2.9 ms"; "–" if there is no value.
QString metricText(const metrics::Metric& metric, const std::optional<metrics::Value>& value);
/// The value of the metric for a request, run, node, pool, layout or fidelity.
template <class Facts>
QString metricText(std::string_view id, const Facts& facts) {
  const metrics::Metric& metric = metrics::get(id);
  return metricText(metric, metric.of(facts));
}
/// "12 relocated": the value with its short name.
template <class Facts>
QString metricPhraseOf(std::string_view id, const Facts& facts) {
  return metricPhrase(id, metricText(id, facts));
}
/// The same for each of these metrics whose value is above 0.
QStringList metricPhrases(std::initializer_list<std::string_view> ids, const metrics::Totals& totals);
/// The same before a run: "12–14 relocated".
QStringList metricPhrases(std::initializer_list<std::string_view> ids,
                          const metrics::PredictedAccount& account);
/// "12", "12–20", "12 or more"
QString rangeText(const metrics::CountRange& range);
/// The predicted value: "12–20"; "?" if it is not known.
QString predictedText(std::string_view id, const metrics::PredictedAccount& account);
/// The text of a cell in a file, in the unit of the heading; empty if there is no value.
QString metricCell(const metrics::Metric& metric, const std::optional<metrics::Value>& value);

}  // namespace spanscope::ui
