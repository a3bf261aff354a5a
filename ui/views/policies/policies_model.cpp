// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policies_model.h"

#include "engine/policy/choice.h"
#include "ui/session/job_estimate.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::ui {
namespace {

using jobs::ComparedAnswer;
using jobs::PolicyRun;
using jobs::PolicyStage;
using metrics::TokenAccount;

const QString kUnmeasured = QStringLiteral("–");

QString natsText(double divergence) {
  return tr("%1\u00A0nats").arg(QString::fromStdString(metrics::text(metrics::Unit::Nats, divergence)));
}

/// A value of a row: its text, its help, and the number by which it is compared. The smallest number is best.
/// The absolute number is the shown value.
struct Measured {
  QString text;
  QString help{};
  double cost = 0;
};
using MeasuredOf = std::function<std::optional<Measured>(const MeasuredPolicy&)>;

/// `value`: the value of the metric.
Measured measured(const metrics::Metric& metric, double value, const QString& text,
                  const QString& help = {}) {
  return {.text = text, .help = help, .cost = metric.better == metrics::Better::More ? -value : value};
}

std::optional<Measured> firstTokenOf(const std::optional<PolicyRun>& run) {
  if (!run || !run->firstToken) return std::nullopt;
  const metrics::Metric& metric = metrics::get("time-to-first-token");
  return measured(metric, *run->firstToken, metricText(metric, *run->firstToken));
}

/// The part of the prompts of the second run to which the metric applies.
std::optional<Measured> promptShareOf(const MeasuredPolicy& policy, std::string_view id) {
  if (!policy.reordered) return std::nullopt;
  const TokenAccount& prompt = policy.reordered->prompt;
  QStringList help;
  for (const char* const part :
       {"hit-tokens", "relocated-tokens", "computed-tokens", "tokens-computed-again"})
    help << metricPhraseOf(part, prompt);
  help +=
      accountWords({.padding = prompt.padding, .delimiters = prompt.delimiters, .cropped = prompt.cropped});
  const metrics::Metric& metric = metrics::get(id);
  const std::int64_t count = metric.ofTokens(prompt);
  return measured(
      metric, static_cast<double>(count), shareText(count, prompt.total()),
      tr("%1 %2: %3")
          .arg(metricText("prompt-tokens", prompt), metricName("prompt-tokens"), help.join(tr(", "))));
}

std::optional<Measured> divergenceOf(const MeasuredPolicy& policy) {
  const auto fidelity = policy.fidelity();
  if (!fidelity) return std::nullopt;
  return measured(metrics::get("divergence"), fidelity->meanDivergence, metricText("divergence", *fidelity),
                  tr("%1: %2\n%3: %4")
                      .arg(metricTitle("median-divergence"), natsText(fidelity->medianDivergence),
                           metricTitle("largest-divergence"), natsText(fidelity->mostDivergence)));
}

std::optional<Measured> agreementOf(const MeasuredPolicy& policy) {
  const auto fidelity = policy.fidelity();
  if (!fidelity) return std::nullopt;
  return measured(metrics::get("agreeing-tokens"), fidelity->agreement(),
                  shareText(fidelity->agreeing, fidelity->tokens),
                  metricPart("agreeing-tokens", metricText("agreeing-tokens", *fidelity), "compared-tokens",
                             metricText("compared-tokens", *fidelity)));
}

std::optional<Measured> memoryOf(const MeasuredPolicy& policy) {
  if (policy.cacheBytes == 0) return std::nullopt;
  const metrics::Metric& metric = metrics::get("cache-memory");
  const auto bytes = static_cast<double>(policy.cacheBytes);
  return measured(metric, bytes, QString::fromStdString(metrics::columnText(metric.unit, bytes)));
}

struct MeasuredColumn {
  std::pair<QString, QString> titleAndHelp;
  MeasuredOf valueOf;
  bool isTime = false;
};

/// A time from one measurement counts as best only if it is this much shorter than all others.
constexpr double kClearlyShorter = 1.25;

std::vector<MeasuredColumn> measuredColumns(const PolicyComparison& comparison) {
  const QString first = metricExplanation("time-to-first-token");
  const QString second = comparison.isReordered
                             ? tr("In the second run, with the children of plus in another order.")
                             : tr("In the second run, which repeats the same query.");
  const auto shareColumn = [&second](std::string_view id) {
    return MeasuredColumn{
        {metricShortTitle(id), tr("Share of the prompt. %1 %2").arg(metricMeaning(id), second)},
        [id](const MeasuredPolicy& policy) { return promptShareOf(policy, id); }};
  };
  return {{{tr("Cold"), tr("With an empty cache, one run. %1").arg(first)},
           [](const MeasuredPolicy& policy) { return firstTokenOf(policy.cold); },
           true},
          {{comparison.isReordered ? tr("Swapped") : tr("Warm"), tr("%1 %2").arg(second, first)},
           [](const MeasuredPolicy& policy) { return firstTokenOf(policy.reordered); },
           true},
          shareColumn("cached-tokens"),
          shareColumn("computed-tokens"),
          shareColumn("tokens-computed-again"),
          {{metricShortHeading("divergence"),
            tr("%1 0 is exact. %2").arg(metricMeaning("divergence"), explain(u"full-prefill"))},
           divergenceOf},
          {{metricShortTitle("agreeing-tokens"), metricMeaning("agreeing-tokens")}, agreementOf},
          {{metricShortHeading("cache-memory"), tr("%1 After both runs.").arg(metricMeaning("cache-memory"))},
           memoryOf}};
}

QString policyHelp(const MeasuredPolicy& policy) {
  if (!policy.problem.empty()) return QString::fromStdString(policy.problem);
  const auto choice = policy::findChoice(policy.policy);
  if (!choice) return {};
  QStringList lines{policyWord(choice->policy().help), QString::fromUtf8(choice->exactness())};
  if (*choice->policy().asIn != '\0') lines.insert(1, tr("As in %1.").arg(policyWord(choice->policy().asIn)));
  return lines.join(QLatin1Char('\n'));
}

/// Marks the best values of each column, unless all are equal. Marks a time only if it is clearly shorter.
void fillRows(const PolicyComparison& comparison, PoliciesModel& model) {
  PaintedTable& table = model.table;
  table = {.headers = {tr("Policy")}, .shares = {4}, .rows = {}, .headerHelps = {QString()}};
  for (const MeasuredPolicy& policy : comparison.policies)
    table.rows.push_back({{.text = QString::fromStdString(policy.policy), .help = policyHelp(policy)}});
  for (const MeasuredColumn& column : measuredColumns(comparison)) {
    table.headers.push_back(column.titleAndHelp.first);
    table.headerHelps.push_back(column.titleAndHelp.second);
    table.shares.push_back(3);
    std::vector<std::optional<Measured>> values;
    std::vector<double> costs;
    for (const MeasuredPolicy& policy : comparison.policies) {
      values.push_back(column.valueOf(policy));
      if (values.back()) costs.push_back(values.back()->cost);
    }
    std::sort(costs.begin(), costs.end());
    const bool isClear = costs.size() > 1 && (column.isTime ? costs[1] >= kClearlyShorter * costs[0]
                                                            : costs.front() < costs.back());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<Measured>& value = values[i];
      PaintedCell& cell = table.rows[i].emplace_back();
      cell = {.text = kUnmeasured, .ink = Role::TextSecond, .mono = true, .isRight = true};
      cell.help = table.rows[i].front().help;
      if (!value) continue;
      cell.text = value->text;
      if (!value->help.isEmpty()) cell.help = value->help;
      cell.raw = std::abs(value->cost);
      cell.bold = isClear && value->cost <= costs.front();
      if (cell.bold) cell.ink = Role::Text;
    }
  }
}

QString inQuotes(const std::string& text) {
  return tr("“%1”").arg(QString::fromStdString(text));
}

QString tokenHelp(const ComparedAnswer& answer, std::size_t index) {
  const trace::FidelityToken& token = answer.fidelity.tokens[index];
  QStringList lines{
      tr("Token %1, %2: %3 %4")
          .arg(index + 1)
          .arg(inQuotes(answer.texts[index]), metricShortName("divergence"), natsText(token.divergence))};
  lines += tr("Probability %1 here, %2 in a full prefill")
               .arg(token.policyProbability, 0, 'g', 2)
               .arg(token.fullProbability, 0, 'g', 2);
  if (token.token != token.fullBest)
    lines += tr(/*id:full-prefill-would-choose*/ "A full prefill would choose %1")
                 .arg(inQuotes(answer.fullTexts[index]));
  return lines.join(QLatin1Char('\n'));
}

PolicyAnswer measuredAnswer(const MeasuredPolicy& policy, const ComparedAnswer& compared) {
  PolicyAnswer answer;
  answer.name = QString::fromStdString(policy.policy);
  if (policy.answers.size() > 1)
    answer.name = tr("%1, %2").arg(answer.name, QString::fromStdString(compared.node));
  const trace::FidelityMeasured* one = &compared.fidelity;
  answer.facts = QString::fromStdString(trace::fidelityText(trace::fidelityOf(std::span(&one, 1))));
  const std::size_t count = std::min({compared.texts.size(), compared.fullTexts.size(), one->tokens.size()});
  for (std::size_t i = 0; i < count; ++i)
    answer.tokens.push_back({.text = QString::fromStdString(compared.texts[i]),
                             .differs = one->tokens[i].token != one->tokens[i].fullBest,
                             .help = tokenHelp(compared, i)});
  return answer;
}

/// Answers whose tokens were not measured yet have only a text.
void addAnswersOf(const MeasuredPolicy& policy, std::vector<PolicyAnswer>& answers) {
  for (const ComparedAnswer& answer : policy.answers) answers.push_back(measuredAnswer(policy, answer));
  if (!policy.answers.empty() || policy.answer.empty()) return;
  answers.push_back(
      {.name = QString::fromStdString(policy.policy),
       .facts = {},
       .tokens = {{.text = QString::fromStdString(policy.answer), .differs = false, .help = {}}}});
}

void addRemarks(const MeasuredJob& job, const PolicyComparison& comparison,
                const document::Document& document, PoliciesModel& model) {
  if (comparison.subject != jobs::comparisonSubject(document))
    model.warnings += tr(/*id:measured-before-edit*/
                         "Measured before the last edit of the query or its settings. Compare again.");
  if (!job.problem.isEmpty()) model.warnings += tr("The comparison stopped: %1").arg(job.problem);
  bool isSampled = false;
  bool differs = false;
  for (const MeasuredPolicy& policy : comparison.policies) {
    if (!policy.problem.empty())
      model.warnings +=
          tr("%1: %2").arg(QString::fromStdString(policy.policy), QString::fromStdString(policy.problem));
    if (const auto fidelity = policy.fidelity()) isSampled = isSampled || fidelity->sampledSteps > 0;
  }
  for (const PolicyAnswer& answer : model.answers)
    differs = differs || std::any_of(answer.tokens.begin(), answer.tokens.end(),
                                     [](const AnswerToken& token) { return token.differs; });
  if (job.state == workbench::JobState::Stopped)
    model.remarks += tr("The comparison was stopped. Finished measurements are kept.");
  if (!comparison.isReordered && !comparison.model.empty())
    model.remarks += tr("No plus has two children to swap, so the second run is the same query again.");
  if (isSampled)
    model.remarks += tr("The temperature is above 0, so some tokens differ because of sampling.");
  if (comparison.chosenTemperature)
    model.remarks += tr("The query has no temperature. Answers are compared at temperature 0.");
  // Tokens that were not compared yet have no remark.
  const bool isAllCompared =
      std::all_of(comparison.policies.begin(), comparison.policies.end(), [](const MeasuredPolicy& policy) {
        if (policy.stage == PolicyStage::Failed) return policy.answer.empty();
        return policy.stage > PolicyStage::Fidelity && !policy.answers.empty();
      });
  if (differs)
    model.remarks += tr(/*id:underlined-token-differs*/
                        "Underlined: a full prefill of the same tokens would choose another token.");
  else if (isAllCompared && !model.answers.empty())
    model.remarks += tr("A full prefill would choose the same tokens.");
}

}  // namespace

PoliciesModel policiesModel(const ViewInput& input) {
  PoliciesModel model;
  const MeasuredJob* job = findMeasured(input.measured, jobs::PolicyComparisonJob::kId);
  if (job == nullptr) return model;
  const PolicyComparison& comparison = *measured<jobs::PolicyComparisonJob>(input.measured);
  model.isKnown = true;
  model.isRunning = job->isRunning();
  model.progress = job->state == workbench::JobState::Finished ? 1 : comparison.progress();
  if (model.isRunning)
    model.doing = withTimeLeft(job->secondsLeft, eventText(jobs::PolicyComparisonJob::activity(comparison)));
  QStringList setup;
  for (const std::string& part : {comparison.model, comparison.device}) {
    if (!part.empty()) setup += QString::fromStdString(part);
  }
  setup += tr("block size %1").arg(comparison.blockSize);
  model.setup = setup.join(tr(" · "));
  const bool hasBegun =
      std::any_of(comparison.policies.begin(), comparison.policies.end(),
                  [](const MeasuredPolicy& policy) { return policy.cold || jobs::hasEnded(policy.stage); });
  if (hasBegun) fillRows(comparison, model);
  for (const MeasuredPolicy& policy : comparison.policies) addAnswersOf(policy, model.answers);
  addRemarks(*job, comparison, *input.document, model);
  return model;
}

QString policiesCsv(const PolicyComparison& comparison) {
  constexpr double kMilliseconds = 1000;
  constexpr std::array<std::string_view, 8> kPromptCounts = {
      "prompt-tokens",         "hit-tokens",     "relocated-tokens", "computed-tokens",
      "tokens-computed-again", "padding-tokens", "delimiter-tokens", "cropped-tokens"};
  const auto milliseconds = [](const std::optional<PolicyRun>& run) {
    return run && run->firstToken ? csvNumber(*run->firstToken * kMilliseconds) : QString();
  };
  const QString first = metricHeading("time-to-first-token");
  QStringList titles{tr("policy"), tr("%1 cold").arg(first), tr("%1 second run").arg(first)};
  for (const std::string_view id : kPromptCounts) titles += metricHeading(id);
  for (const char* const id : {"generated-tokens", "divergence", "largest-divergence", "agreeing-tokens"})
    titles += metricHeading(id);
  titles << tr("bytes") << metricName("answer") << tr("problem");
  QString text = csvLine(titles);
  for (const MeasuredPolicy& policy : comparison.policies) {
    const auto fidelity = policy.fidelity();
    const auto cell = [&fidelity](std::string_view id) {
      const metrics::Metric& metric = metrics::get(id);
      return metricCell(metric, fidelity ? metric.of(*fidelity) : std::nullopt);
    };
    QStringList fields{QString::fromStdString(policy.policy), milliseconds(policy.cold),
                       milliseconds(policy.reordered)};
    if (policy.reordered) {
      for (const std::string_view id : kPromptCounts)
        fields += QString::number(metrics::get(id).ofTokens(policy.reordered->prompt));
    } else {
      fields += QStringList(kPromptCounts.size(), QString());
    }
    fields << QString::number(policy.generatedTokens) << cell("divergence") << cell("largest-divergence")
           << cell("agreeing-tokens") << QString::number(policy.cacheBytes)
           << QString::fromStdString(policy.answer) << QString::fromStdString(policy.problem);
    text += csvLine(fields);
  }
  return text;
}

QString policiesText(const PoliciesModel& model) {
  QString text = model.setup + QLatin1Char('\n') + tabbedText(model.table);
  for (const QString& line : model.warnings + model.remarks) text += line + QLatin1Char('\n');
  for (const PolicyAnswer& answer : model.answers) {
    text += answer.name + QStringLiteral(": ");
    for (const AnswerToken& token : answer.tokens) text += token.text;
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace spanscope::ui
