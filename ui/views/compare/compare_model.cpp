// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_model.h"

#include "engine/policy/policies.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/metrics/metrics_model.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>

namespace spanscope::ui {
namespace {

/// What one run took, summed over its requests.
struct Sums {
  QString policy;
  QString outcome;
  QString answer;
  std::int64_t prompt = 0;
  std::int64_t computed = 0;
  std::int64_t relocated = 0;
  std::int64_t cached = 0;
  std::int64_t allocated = 0;
  std::int64_t generated = 0;
  std::optional<double> first;
  std::optional<double> between;
  std::optional<double> whole;
};

QString policyWords(const std::string& name) {
  const policy::Policy* policy = policy::findPolicy(name);
  const QString plain = QString::fromStdString(name);
  return policy != nullptr ? tr("%1 · %2").arg(plain, QString::fromUtf8(policy->exactness)) : plain;
}

QString outcomeWord(const std::optional<trace::RunOutcome>& outcome) {
  if (!outcome) return tr("running");
  switch (*outcome) {
    case trace::RunOutcome::Finished:
      return tr("finished");
    case trace::RunOutcome::Stopped:
      return tr("stopped");
    case trace::RunOutcome::Failed:
      return tr("failed");
  }
  return {};
}

Sums sumsOf(const trace::Progress& progress, const trace::RunState& run) {
  Sums sums;
  sums.policy = policyWords(run.policy);
  sums.outcome = outcomeWord(run.outcome);
  sums.answer = QString::fromStdString(run.answer);
  std::vector<double> first;
  std::vector<double> between;
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const trace::RequestState& request = found->second;
    sums.prompt += request.promptTokens;
    sums.cached += request.cachedTokens;
    sums.relocated += request.relocatedTokens;
    sums.computed += request.computedTokens;
    sums.generated += request.generatedTokens;
    for (const auto& [place, block] : request.blocks) sums.allocated += block.allocated ? 1 : 0;
    if (!request.metrics) continue;
    if (request.metrics->generatedTokens > 0) first.push_back(request.metrics->timeToFirstToken);
    if (request.metrics->generatedTokens > 1) between.push_back(request.metrics->interTokenLatency);
  }
  sums.first = medianOf(std::move(first));
  sums.between = medianOf(std::move(between));
  if (run.startedAt >= 0 && run.finishedAt >= 0) {
    sums.whole = static_cast<double>(run.finishedAt - run.startedAt) * 1e-9;
  }
  return sums;
}

enum class Wanted { More, Less, Either };

CompareRow counts(const QString& name, const QString& help, std::int64_t left, std::int64_t right,
                  Wanted wanted) {
  CompareRow row{.name = name,
                 .help = help,
                 .left = QString::number(left),
                 .right = QString::number(right),
                 .change = {}};
  if (left == right) {
    row.verdict = Verdict::Same;
    return row;
  }
  row.change = right > left ? tr("+%1").arg(right - left) : tr("−%1").arg(left - right);
  row.verdict = wanted == Wanted::Either                     ? Verdict::Differs
                : (right > left) == (wanted == Wanted::More) ? Verdict::Better
                                                             : Verdict::Worse;
  return row;
}

CompareRow times(const QString& name, const QString& help, const std::optional<double>& left,
                 const std::optional<double>& right) {
  const QString none = QStringLiteral("–");
  CompareRow row{.name = name,
                 .help = help,
                 .left = left ? durationText(*left) : none,
                 .right = right ? durationText(*right) : none,
                 .change = {}};
  if (!left || !right) return row;
  row.change = *left == *right ? QString() : changeText(*right, *left);
  row.verdict = *left == *right ? Verdict::Same : *right < *left ? Verdict::Better : Verdict::Worse;
  return row;
}

CompareRow words(const QString& name, const QString& help, const QString& left, const QString& right) {
  return {.name = name,
          .help = help,
          .left = left,
          .right = right,
          .change = left == right ? tr("same") : tr("differs"),
          .verdict = left == right ? Verdict::Same : Verdict::Differs,
          .text = true};
}

}  // namespace

CompareModel compareModel(const ViewInput& input, RunId left, RunId right) {
  CompareModel model;
  const trace::Progress& progress = input.state().progress();
  for (const auto& [id, run] : progress.runs) {
    model.runs.push_back(id);
    model.labels.push_back(tr("run %1 · %2").arg(id).arg(QString::fromStdString(run.policy)));
  }
  if (model.runs.size() < 2) return model;
  const auto known = [&model](RunId run) {
    return std::find(model.runs.begin(), model.runs.end(), run) != model.runs.end();
  };
  model.right = known(right) ? right : model.runs.back();
  model.left = known(left)                        ? left
               : model.right == model.runs.back() ? model.runs[model.runs.size() - 2]
                                                  : model.runs.back();

  const Sums a = sumsOf(progress, progress.runs.at(model.left));
  const Sums b = sumsOf(progress, progress.runs.at(model.right));
  model.rows = {
      words(tr("Policy"),
            tr("How far the run departs from a full prefill, and what its result is exact against."),
            a.policy, b.policy),
      words(tr("Outcome"), {}, a.outcome, b.outcome),
      counts(tr("Prompt tokens"), tr("Tokens of all prompts of the run."), a.prompt, b.prompt,
             Wanted::Either),
      counts(tr("Computed"), tr("Prompt tokens that had to be computed."), a.computed, b.computed,
             Wanted::Less),
      counts(tr("Relocated"),
             tr("Cached tokens that were used at another position than they were stored at."), a.relocated,
             b.relocated, Wanted::Either),
      counts(tr("Cached"), tr("Prompt tokens that came from the cache, relocated ones included."), a.cached,
             b.cached, Wanted::More),
      counts(tr("Blocks allocated"), tr("Blocks of the pool that the run's requests took for themselves."),
             a.allocated, b.allocated, Wanted::Less),
      counts(tr("Generated tokens"), {}, a.generated, b.generated, Wanted::Either),
      times(tr("TTFT"),
            tr("Time to first token, from the moment a step could start; median of the run's requests."),
            a.first, b.first),
      times(tr("ITL"),
            tr("Inter-token latency: mean time between two generated tokens; median of the run's requests."),
            a.between, b.between),
      times(tr("Whole run"), tr("From the start of the run to its end."), a.whole, b.whole),
      words(tr("Answer"), {}, a.answer, b.answer),
  };
  return model;
}

QString compareCsv(const CompareModel& model) {
  QString text =
      csvLine({tr("what"), tr("run %1").arg(model.left), tr("run %1").arg(model.right), tr("change")});
  for (const CompareRow& row : model.rows) text += csvLine({row.name, row.left, row.right, row.change});
  return text;
}

}  // namespace spanscope::ui
