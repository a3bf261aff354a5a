// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/measure_requests.h"

#include "engine/policy/choice.h"
#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/job_results.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {

using experiment::RunCase;

namespace {

constexpr QLatin1String kQuery("query");
constexpr QLatin1String kLengths("lengths");
const QLatin1String kRepeats("repeats");
const QLatin1String kSource("source");
const QLatin1String kOwn("own");
const QLatin1String kExpected("expected");

/// Escapes the separator of fields, which paths may contain.
QString guarded(QString value) {
  return value.replace(QLatin1Char('%'), QStringLiteral("%25"))
      .replace(QLatin1Char(';'), QStringLiteral("%3B"));
}

QString unguarded(QString value) {
  return value.replace(QStringLiteral("%3B"), QStringLiteral(";"))
      .replace(QStringLiteral("%25"), QStringLiteral("%"));
}

}  // namespace

QString benchmarkRequest(const BenchmarkChoice& choice) {
  return (choice.kind == BenchmarkKind::Query ? kQuery : kLengths) + QLatin1Char(':') +
         QString::number(choice.repeats);
}

std::optional<BenchmarkChoice> readBenchmarkRequest(const QString& text) {
  const QString kind = text.section(QLatin1Char(':'), 0, 0);
  bool isNumber = false;
  const int repeats = text.section(QLatin1Char(':'), 1).toInt(&isNumber);
  if ((kind != kQuery && kind != kLengths) || !isNumber || repeats < 1 || repeats > kMostBenchmarkRepeats)
    return std::nullopt;
  return BenchmarkChoice{.kind = kind == kQuery ? BenchmarkKind::Query : BenchmarkKind::Lengths,
                         .repeats = repeats};
}

jobs::JobCall benchmarkCall(const document::Document& document, BenchmarkChoice choice) {
  choice.repeats = std::clamp(choice.repeats, 1, kMostBenchmarkRepeats);
  choice.subject = jobs::benchmarkSubject(document, choice.kind);
  return jobs::callOf<jobs::BenchmarkJob>(choice);
}

QString caseText(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return tr("cold");
    case RunCase::SameOrder:
      return tr("same order");
    case RunCase::Swapped:
      return tr("order swapped");
    case RunCase::Floor:
      return tr("floor");
  }
  return {};
}

std::vector<std::string> usualPolicies() {
  return knownPolicies(
      {QStringLiteral("prefix"), QStringLiteral("spans"), QStringLiteral("link"), QStringLiteral("blend")});
}

std::vector<std::string> knownPolicies(const QStringList& names) {
  std::vector<std::string> known;
  for (const policy::Policy* policy : policy::policies()) {
    if (names.contains(QString::fromUtf8(policy->name))) known.emplace_back(policy->name);
  }
  return known;
}

jobs::JobCall policyChoice(const std::vector<std::string>& names) {
  return jobs::callOf<jobs::PolicyComparisonJob>({.policies = names});
}

std::vector<std::string> chosenPolicies(const MeasuredJobs& jobs) {
  return chosen<jobs::PolicyComparisonJob>(jobs).value_or(jobs::PolicyChoice{}).policies;
}

std::vector<std::string> comparedPolicies(const std::string& own, const std::vector<std::string>& wanted) {
  const policy::Choice first = workbench::policyOf(own);
  std::vector<std::string> compared{first.name()};
  for (const std::string& name : wanted) {
    const policy::Policy* policy = policy::findPolicy(name);
    if (policy != nullptr && policy != &first.policy()) compared.push_back(policy::Choice(*policy).name());
  }
  return compared;
}

jobs::JobCall comparisonCall(const document::Document& document, const std::vector<std::string>& wanted) {
  return jobs::callOf<jobs::PolicyComparisonJob>(
      {.policies = comparedPolicies(document.settings.policy, wanted),
       .subject = jobs::comparisonSubject(document)});
}

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
