// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policies_model.h"

#include "engine/policy/choice.h"
#include "ui/session/measure_estimate.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace spanscope::ui {
namespace {

using metrics::TokenAccount;
using workbench::ComparedReply;
using workbench::PolicyRun;
using workbench::PolicyStage;

const QString kUnmeasured = QStringLiteral("–");

QString natsText(double divergence) {
  return tr("%1\u00A0nats").arg(QString::fromStdString(trace::divergenceText(divergence)));
}

/// In MiB.
QString memoryText(std::uint64_t bytes) {
  constexpr double kMebibyte = 1 << 20;
  const double size = static_cast<double>(bytes) / kMebibyte;
  return QString::number(size, 'f', size < 10 ? 2 : size < 100 ? 1 : 0);
}

/// A figure of a row: how it is written, and what it is compared by; the smallest is the best.
struct Figure {
  QString text;
  QString help{};
  double cost = 0;
};
using FigureOf = std::function<std::optional<Figure>(const MeasuredPolicy&)>;

std::optional<Figure> firstTokenOf(const std::optional<PolicyRun>& run) {
  if (!run || !run->firstToken) return std::nullopt;
  return Figure{.text = durationText(*run->firstToken), .cost = *run->firstToken};
}

/// A share of the prompts of the second run.
std::optional<Figure> promptShareOf(const MeasuredPolicy& policy, std::int64_t (*part)(const TokenAccount&),
                                    bool isGood) {
  if (!policy.reordered) return std::nullopt;
  const TokenAccount& prompt = policy.reordered->prompt;
  QString help = tr("Of %1 tokens: %2 found where they stood, %3 found and moved, %4 computed, %5 found "
                    "and computed again")
                     .arg(prompt.total())
                     .arg(prompt.hit)
                     .arg(prompt.relocated)
                     .arg(prompt.computed)
                     .arg(prompt.again);
  for (const QString& words : accountWords({.padded = prompt.padded, .cropped = prompt.cropped}))
    help += tr(", %1").arg(words);
  return Figure{.text = shareText(part(prompt), prompt.total()),
                .help = std::move(help),
                .cost = static_cast<double>(isGood ? -part(prompt) : part(prompt))};
}

std::optional<Figure> divergenceOf(const MeasuredPolicy& policy) {
  const auto figures = policy.fidelity();
  if (!figures) return std::nullopt;
  return Figure{.text = QString::fromStdString(trace::divergenceText(figures->meanDivergence)),
                .help = tr("Median %1, most %2")
                            .arg(natsText(figures->medianDivergence), natsText(figures->mostDivergence)),
                .cost = figures->meanDivergence};
}

std::optional<Figure> agreementOf(const MeasuredPolicy& policy) {
  const auto figures = policy.fidelity();
  if (!figures) return std::nullopt;
  return Figure{.text = shareText(figures->agreeing, figures->tokens),
                .help = tr("%1 of %2 tokens").arg(figures->agreeing).arg(figures->tokens),
                .cost = -figures->agreement()};
}

std::optional<Figure> memoryOf(const MeasuredPolicy& policy) {
  if (policy.cacheBytes == 0) return std::nullopt;
  return Figure{.text = memoryText(policy.cacheBytes), .cost = static_cast<double>(policy.cacheBytes)};
}

struct MeasuredColumn {
  FigureColumn shown;
  FigureOf figure;
  bool isTime = false;
};

/// A time that was measured once says something only if it is this much shorter than all others.
constexpr double kClearlyShorter = 1.25;

std::vector<MeasuredColumn> figureColumns(const PolicyComparison& comparison) {
  const QString first = metricMeaning("time-to-first-token");
  const QString second = comparison.isReordered
                             ? tr("In the second run, with what stands under plus in another order.")
                             : tr("In the second run, which is the same query once more.");
  const auto shareOf = [&second](std::string_view id) {
    return tr("Share of the prompt. %1 %2").arg(metricMeaning(id), second);
  };
  return {
      {{tr("Cold"), tr("Time to the first token with an empty cache, one run. %1").arg(first)},
       [](const MeasuredPolicy& policy) { return firstTokenOf(policy.cold); },
       true},
      {{comparison.isReordered ? tr("Swapped") : tr("Warm"),
        tr("Time to the first token. %1 %2").arg(second, first)},
       [](const MeasuredPolicy& policy) { return firstTokenOf(policy.reordered); },
       true},
      {{metricShortTitle("cached-tokens"), shareOf("cached-tokens")},
       [](const MeasuredPolicy& policy) {
         return promptShareOf(
             policy, [](const TokenAccount& prompt) { return prompt.cached(); }, true);
       }},
      {{metricShortTitle("computed-tokens"), shareOf("computed-tokens")},
       [](const MeasuredPolicy& policy) {
         return promptShareOf(
             policy, [](const TokenAccount& prompt) { return prompt.computed; }, false);
       }},
      {{metricShortTitle("tokens-computed-again"), shareOf("tokens-computed-again")},
       [](const MeasuredPolicy& policy) {
         return promptShareOf(
             policy, [](const TokenAccount& prompt) { return prompt.again; }, false);
       }},
      {{tr("%1 nats").arg(metricShortName("divergence")),
        tr("%1 0 is exact. %2").arg(metricMeaning("divergence"), explain(u"full-prefill"))},
       divergenceOf},
      {{tr("As full"), metricMeaning("agreeing-tokens")}, agreementOf},
      {{tr("MiB"), tr("Memory: blocks of the pool that hold keys and values after both runs.")}, memoryOf}};
}

QString policyHelp(const MeasuredPolicy& policy) {
  if (!policy.problem.empty()) return QString::fromStdString(policy.problem);
  const auto choice = policy::findChoice(policy.policy);
  if (!choice) return {};
  QStringList lines{policyWord(choice->policy().help), QString::fromUtf8(choice->exactness())};
  if (*choice->policy().asIn != '\0') lines.insert(1, tr("As in %1.").arg(policyWord(choice->policy().asIn)));
  return lines.join(QLatin1Char('\n'));
}

/// The best of each column stand out, unless all are alike. A time stands out only if it is clearly shorter.
void fillRows(const PolicyComparison& comparison, PoliciesModel& model) {
  model.columns.push_back({tr("Policy"), {}});
  for (const MeasuredPolicy& policy : comparison.policies)
    model.rows.push_back(
        {.name = QString::fromStdString(policy.policy), .help = policyHelp(policy), .cells = {}});
  for (const MeasuredColumn& column : figureColumns(comparison)) {
    model.columns.push_back(column.shown);
    std::vector<std::optional<Figure>> figures;
    std::vector<double> costs;
    for (const MeasuredPolicy& policy : comparison.policies) {
      figures.push_back(column.figure(policy));
      if (figures.back()) costs.push_back(figures.back()->cost);
    }
    std::sort(costs.begin(), costs.end());
    const bool isClear = costs.size() > 1 && (column.isTime ? costs[1] >= kClearlyShorter * costs[0]
                                                            : costs.front() < costs.back());
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const std::optional<Figure>& figure = figures[i];
      if (!figure) {
        model.rows[i].cells.push_back({.text = kUnmeasured, .help = {}});
        continue;
      }
      model.rows[i].cells.push_back(
          {.text = figure->text, .help = figure->help, .isBest = isClear && figure->cost <= costs.front()});
    }
  }
}

QString inQuotes(const std::string& text) {
  return tr("“%1”").arg(QString::fromStdString(text));
}

QString tokenHelp(const ComparedReply& reply, std::size_t index) {
  const trace::FidelityToken& token = reply.fidelity.tokens[index];
  QStringList lines{tr("Token %1, %2: divergence %3")
                        .arg(index + 1)
                        .arg(inQuotes(reply.texts[index]), natsText(token.divergence))};
  lines += tr("Probability %1 here, %2 in a full prefill")
               .arg(token.policyProbability, 0, 'g', 2)
               .arg(token.fullProbability, 0, 'g', 2);
  if (token.token != token.fullBest)
    lines += tr("A full prefill would choose %1").arg(inQuotes(reply.fullTexts[index]));
  return lines.join(QLatin1Char('\n'));
}

PolicyAnswer measuredAnswer(const MeasuredPolicy& policy, const ComparedReply& reply) {
  PolicyAnswer answer;
  answer.name = QString::fromStdString(policy.policy);
  if (policy.replies.size() > 1)
    answer.name = tr("%1, %2").arg(answer.name, QString::fromStdString(reply.node));
  const trace::FidelityMeasured* one = &reply.fidelity;
  answer.facts = QString::fromStdString(trace::fidelityText(trace::fidelityOf(std::span(&one, 1))));
  const std::size_t count = std::min({reply.texts.size(), reply.fullTexts.size(), one->tokens.size()});
  for (std::size_t i = 0; i < count; ++i)
    answer.tokens.push_back({.text = QString::fromStdString(reply.texts[i]),
                             .differs = one->tokens[i].token != one->tokens[i].fullBest,
                             .help = tokenHelp(reply, i)});
  return answer;
}

/// What is known of answers whose tokens were not measured yet is their text.
void addAnswersOf(const MeasuredPolicy& policy, std::vector<PolicyAnswer>& answers) {
  for (const ComparedReply& reply : policy.replies) answers.push_back(measuredAnswer(policy, reply));
  if (!policy.replies.empty() || policy.answer.empty()) return;
  answers.push_back(
      {.name = QString::fromStdString(policy.policy),
       .facts = {},
       .tokens = {{.text = QString::fromStdString(policy.answer), .differs = false, .help = {}}}});
}

void addRemarks(const PolicyComparison& comparison, const document::Document& document,
                PoliciesModel& model) {
  if (comparison.subject != workbench::comparisonSubject(document))
    model.warnings += tr("Measured before the last edit of the query or its settings: compare again.");
  if (!comparison.problem.empty())
    model.warnings += tr("It could not go on: %1").arg(QString::fromStdString(comparison.problem));
  bool isSampled = false;
  bool differs = false;
  for (const MeasuredPolicy& policy : comparison.policies) {
    if (!policy.problem.empty())
      model.warnings +=
          tr("%1: %2").arg(QString::fromStdString(policy.policy), QString::fromStdString(policy.problem));
    if (const auto figures = policy.fidelity()) isSampled = isSampled || figures->sampledSteps > 0;
  }
  for (const PolicyAnswer& answer : model.answers)
    differs = differs || std::any_of(answer.tokens.begin(), answer.tokens.end(),
                                     [](const AnswerToken& token) { return token.differs; });
  if (comparison.state == workbench::WorkState::Stopped)
    model.remarks += tr("Stopped: what was measured by then stands.");
  if (!comparison.isReordered && !comparison.model.empty())
    model.remarks +=
        tr("No plus has two children that could change places: the second run is the same query once more.");
  if (isSampled)
    model.remarks += tr("Answers were drawn by chance (a temperature above 0): some tokens differ for that.");
  if (comparison.chosenTemperature)
    model.remarks += tr("The query sets no temperature: answers are compared at temperature 0.");
  // Nothing is known of tokens that were not compared yet.
  const bool isAllCompared =
      std::all_of(comparison.policies.begin(), comparison.policies.end(), [](const MeasuredPolicy& policy) {
        if (policy.stage == PolicyStage::Failed) return policy.answer.empty();
        return policy.stage > PolicyStage::Fidelity && !policy.replies.empty();
      });
  if (differs)
    model.remarks += tr("Underlined: a full prefill of the same tokens would choose another token.");
  else if (isAllCompared && !model.answers.empty())
    model.remarks += tr("Every token is what a full prefill would choose.");
}

}  // namespace

PoliciesModel policiesModel(const ViewInput& input) {
  PoliciesModel model;
  if (!input.policies) return model;
  const PolicyComparison& comparison = *input.policies;
  model.isKnown = true;
  model.isRunning = !workbench::hasEnded(comparison.state);
  model.progress = comparison.progress();
  if (model.isRunning) model.doing = withTimeLeft(comparison.secondsLeft, progressText(comparison));
  QStringList setup;
  for (const std::string& part : {comparison.model, comparison.device}) {
    if (!part.empty()) setup += QString::fromStdString(part);
  }
  setup += tr("block size %1").arg(comparison.subject.settings.blockSize);
  model.setup = setup.join(tr(" · "));
  const bool hasBegun = std::any_of(
      comparison.policies.begin(), comparison.policies.end(),
      [](const MeasuredPolicy& policy) { return policy.cold || workbench::hasEnded(policy.stage); });
  if (hasBegun) fillRows(comparison, model);
  for (const MeasuredPolicy& policy : comparison.policies) addAnswersOf(policy, model.answers);
  addRemarks(comparison, *input.document, model);
  return model;
}

QString policiesCsv(const PolicyComparison& comparison) {
  constexpr double kMilliseconds = 1000;
  const auto number = [](const auto& value) { return value ? csvNumber(*value) : QString(); };
  const auto milliseconds = [](const std::optional<PolicyRun>& run) {
    return run && run->firstToken ? csvNumber(*run->firstToken * kMilliseconds) : QString();
  };
  QString text = csvLine({tr("policy"), tr("first token cold ms"), tr("first token of the second run ms"),
                          metricHeading("prompt-tokens"), metricHeading("hit-tokens"),
                          metricHeading("relocated-tokens"), metricHeading("computed-tokens"),
                          metricHeading("tokens-computed-again"), metricHeading("padded-tokens"),
                          metricHeading("cropped-tokens"), metricHeading("generated-tokens"),
                          metricHeading("divergence"), metricHeading("largest-divergence"),
                          metricHeading("agreeing-tokens"), tr("bytes"), tr("answer"), tr("problem")});
  for (const MeasuredPolicy& policy : comparison.policies) {
    const auto figures = policy.fidelity();
    std::optional<double> mean;
    std::optional<double> most;
    std::optional<double> agreeing;
    if (figures) {
      mean = figures->meanDivergence;
      most = figures->mostDivergence;
      agreeing = static_cast<double>(figures->agreeing);
    }
    QStringList fields{QString::fromStdString(policy.policy), milliseconds(policy.cold),
                       milliseconds(policy.reordered)};
    if (policy.reordered) {
      const TokenAccount& prompt = policy.reordered->prompt;
      for (const std::int64_t count : {prompt.total(), prompt.hit, prompt.relocated, prompt.computed,
                                       prompt.again, prompt.padded, prompt.cropped})
        fields += QString::number(count);
    } else {
      fields += QStringList(7, QString());
    }
    fields << QString::number(policy.generatedTokens) << number(mean) << number(most) << number(agreeing)
           << QString::number(policy.cacheBytes) << QString::fromStdString(policy.answer)
           << QString::fromStdString(policy.problem);
    text += csvLine(fields);
  }
  return text;
}

QString policiesText(const PoliciesModel& model) {
  QStringList titles;
  for (const FigureColumn& column : model.columns) titles += column.title;
  QString text = model.setup + QLatin1Char('\n') + titles.join(QLatin1Char('\t')) + QLatin1Char('\n');
  for (const PolicyRow& row : model.rows) {
    QStringList cells{row.name};
    for (const PolicyCell& cell : row.cells) cells += cell.text;
    text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
  }
  for (const QString& line : model.warnings + model.remarks) text += line + QLatin1Char('\n');
  for (const PolicyAnswer& answer : model.answers) {
    text += answer.name + QStringLiteral(": ");
    for (const AnswerToken& token : answer.tokens) text += token.text;
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace spanscope::ui
