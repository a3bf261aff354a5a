// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_model.h"

#include "ui/session/foretold_runs.h"
#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/request_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace spanscope::ui {
namespace {

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

std::int64_t allocatedBlocks(const ListedRun& run) {
  std::int64_t blocks = 0;
  for (const RequestId id : run.state().requests) {
    const auto found = run.progress->requests.find(id);
    if (found == run.progress->requests.end()) continue;
    for (const auto& [place, block] : found->second.blocks) blocks += block.allocated ? 1 : 0;
  }
  return blocks;
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

/// What two runs have in place of a time that they have not.
struct NoTimes {
  QString left;
  QString right;
};

QString noTime(const ListedRun& run) {
  return isForetold(run) ? tr("not foretold") : QStringLiteral("–");
}

/// A row with times. `isLike` says whether a shorter time is better, or only different. `base` names the left
/// run where that is to be said.
CompareRow times(const QString& name, const QString& help, const std::optional<double>& left,
                 const std::optional<double>& right, const NoTimes& none, bool isLike, const QString& base) {
  CompareRow row{.name = name,
                 .help = help,
                 .left = left ? durationText(*left) : none.left,
                 .right = right ? durationText(*right) : none.right,
                 .change = {}};
  if (!left || !right) return row;
  const QString change = *left == *right ? QString() : changeText(*right, *left);
  row.change = change.isEmpty() || base.isEmpty() ? change : tr("%1 vs %2").arg(change, base);
  row.verdict = *left == *right  ? Verdict::Same
                : !isLike        ? Verdict::Differs
                : *right < *left ? Verdict::Better
                                 : Verdict::Worse;
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

QString endingOf(const std::optional<trace::StepOutcome>& outcome) {
  if (outcome == trace::StepOutcome::Stopped) return tr("stopped");
  if (outcome == trace::StepOutcome::Failed) return tr("failed");
  return {};
}

/// The label of a run, whether it was cold, and that it did not end as it should.
QString titleOf(const RunLabels& labels, const ListedRun& run, bool isCold) {
  const QString label = labels.of(run, isCold);
  const std::optional<trace::RunOutcome>& outcome = run.state().outcome;
  return outcome && *outcome != trace::RunOutcome::Finished ? tr("%1 · %2").arg(label, outcomeWord(outcome))
                                                            : label;
}

/// The blocks of every step, in the order of the plan.
std::vector<StepBlocks> blocksOf(const ViewInput& input, const ListedRun& run) {
  std::vector<StepBlocks> steps;
  if (!run.trace) return steps;
  StepNames names(input, *run.progress);
  for (const RequestId id : run.state().requests) {
    const auto found = run.progress->requests.find(id);
    if (found == run.progress->requests.end()) continue;
    StepBlocks step{.request = id, .node = found->second.node, .copy = found->second.copy};
    step.name = names.of(found->second);
    const RequestBlocks blocks = requestBlocks(*run.trace, run.trace->stateAt(run.position), id);
    // The span table is a plan. What a step came to is known from its lookups and passes alone.
    RequestAccount account(*run.trace, run.position, id);
    for (const SegmentVirtualBlocks& segment : blocks.segments) {
      for (const VirtualBlockFacts& block : segment.blocks) {
        if (segment.hidden || block.number < 0 || block.prompt == 0) continue;
        const std::int64_t first = std::int64_t{block.place.virtualIndex} * blocks.blockSize;
        if (block.role == BlockRole::Free ||
            account.unread(segment.segment, first, first + block.prompt) == block.prompt) {
          ++step.left;
        } else {
          step.roles.push_back(block.role);
        }
      }
    }
    step.ending = endingOf(found->second.outcome);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// Pairs the steps of the same node.
std::vector<BlockPair> pairsOf(std::vector<StepBlocks> left, std::vector<StepBlocks> right) {
  std::vector<BlockPair> pairs;
  for (StepBlocks& step : left) {
    BlockPair pair{.left = std::move(step), .right = {}};
    const auto same = std::find_if(right.begin(), right.end(), [&pair](const StepBlocks& other) {
      return other.node == pair.left->node && other.copy == pair.left->copy;
    });
    if (same != right.end()) {
      pair.right = std::move(*same);
      right.erase(same);
    }
    pairs.push_back(std::move(pair));
  }
  for (StepBlocks& step : right) pairs.push_back({.left = {}, .right = std::move(step)});
  return pairs;
}

}  // namespace

CompareModel compareModel(const ViewInput& input, RunId left, RunId right) {
  CompareModel model;
  const std::vector<ListedRun> runs = listRuns(input);
  const RunLabels labels(runs);
  for (const ListedRun& run : runs) {
    model.runs.push_back(run.run);
    QString label = labels.of(run);
    if (const QString time = runTime(run); !time.isEmpty()) label = tr("%1 · %2").arg(label, time);
    model.labels.push_back(label);
  }
  if (runs.size() < 2) return model;
  // Runs of other documents are compared only if they are chosen.
  const bool isChosen = left != 0 || right != 0;
  if (!isChosen && std::none_of(runs.begin(), runs.end(), [](const ListedRun& run) { return run.isOwn; }))
    return model;
  const auto find = [&runs](RunId run) {
    return std::find_if(runs.begin(), runs.end(), [run](const ListedRun& other) { return other.run == run; });
  };
  // The right run is the document's newest, the left one the last run before it that is like it.
  auto b = find(right);
  if (b == runs.end()) {
    const auto own = std::find_if(runs.rbegin(), runs.rend(), [](const auto& run) { return run.isOwn; });
    b = own == runs.rend() ? std::prev(runs.end()) : std::prev(own.base());
  }
  auto a = find(left);
  if (a == runs.end()) {
    const auto before = std::make_reverse_iterator(b);
    const auto like =
        std::find_if(before, runs.rend(), [&b](const ListedRun& run) { return isLike(*b, run); });
    const auto own = std::find_if(before, runs.rend(), [](const ListedRun& run) { return run.isOwn; });
    if (like != runs.rend())
      a = std::prev(like.base());
    else if (own != runs.rend())
      a = std::prev(own.base());
    else
      a = b == runs.begin() ? std::prev(runs.end()) : std::prev(b);
  }
  model.left = a->run;
  model.right = b->run;
  const RunLabels two({*a, *b});
  const RunBasis base = basisOf(*a);
  const RunBasis basis = basisOf(*b);
  model.leftTitle = titleOf(two, *a, base.isCold);
  model.rightTitle = titleOf(two, *b, basis.isCold);
  model.isLike = isLike(*a, *b);
  model.differences = differencesOf(*a, *b);
  if (base.isCold != basis.isCold)
    model.differences += basis.isCold ? tr("a cold cache") : tr("a warm cache");
  const bool isFair = model.isLike && isLike(basis, base);
  // The titles name the runs, so a row need only say why a change is no measure of the engine.
  const QString baseText = isFair ? QString() : baseName(basis, base);

  const RunFigures first = figuresOf(*a->progress, a->state());
  const RunFigures second = figuresOf(*b->progress, b->state());
  const trace::PromptAccount firstAccount = accountOf(*a);
  const trace::PromptAccount secondAccount = accountOf(*b);
  const bool isWhole = firstAccount.unread == 0 && secondAccount.unread == 0;
  const QString firstAnswer = QString::fromStdString(a->state().answer);
  const QString secondAnswer = QString::fromStdString(b->state().answer);
  if (!a->document().isEmpty() || !b->document().isEmpty())
    model.rows.push_back(words(tr("Document"), {}, a->document(), b->document()));
  if (!a->model.isEmpty() || !b->model.isEmpty())
    model.rows.push_back(words(tr("Model"), tr("The checkpoint that answered."), a->model, b->model));
  model.rows.insert(
      model.rows.end(),
      {words(tr("Policy"),
             tr("How far the run departs from a full prefill, and what its result is exact against; and its "
                "layout, where prompts are not the chat template's text."),
             a->policyText(), b->policyText()),
       words(tr("Outcome"), {}, outcomeWord(a->state().outcome), outcomeWord(b->state().outcome)),
       counts(
           tr("Prompt tokens"),
           tr("Tokens of all prompts of the run: cached, computed again, computed, and those that a run that "
              "did not end as it should did not come to."),
           firstAccount.total(), secondAccount.total(), Wanted::Either),
       counts(tr("Cached"), tr("Prompt tokens that came from the cache, relocated ones included."),
              firstAccount.prompt.cached(), secondAccount.prompt.cached(),
              model.isLike ? Wanted::More : Wanted::Either),
       counts(tr("Relocated"),
              tr("Cached tokens that were used at another position than they were stored at."),
              firstAccount.prompt.relocated, secondAccount.prompt.relocated, Wanted::Either),
       counts(tr("Computed again"),
              tr("Prompt tokens that were found, and computed anew because the policy wants them to see the "
                 "whole prompt. They are not cached."),
              firstAccount.prompt.again, secondAccount.prompt.again,
              model.isLike ? Wanted::Less : Wanted::Either),
       counts(tr("Computed"), tr("Prompt tokens that were not found and had to be computed."),
              firstAccount.prompt.computed, secondAccount.prompt.computed,
              model.isLike && isWhole ? Wanted::Less : Wanted::Either)});
  if (!isWhole) {
    model.rows.push_back(counts(tr("Not computed"),
                                tr("Prompt tokens that were not found and that the run did not come to."),
                                firstAccount.unread, secondAccount.unread, Wanted::Either));
  }
  if (firstAccount.prompt.padded > 0 || secondAccount.prompt.padded > 0) {
    model.rows.push_back(counts(
        tr("Pads and markers"),
        tr("Prompt tokens that only the layout put there, cached and computed ones. Without them, and with "
           "the cropped ones, the prompt is the chat template's text."),
        firstAccount.prompt.padded, secondAccount.prompt.padded, Wanted::Either));
  }
  if (firstAccount.prompt.cropped > 0 || secondAccount.prompt.cropped > 0) {
    model.rows.push_back(counts(
        tr("Cropped"), tr("Tokens of the chat template's text that the layout left out of the prompt."),
        firstAccount.prompt.cropped, secondAccount.prompt.cropped, Wanted::Either));
  }
  if (firstAccount.beside > 0 || secondAccount.beside > 0) {
    model.rows.push_back(
        counts(tr("Beside the prompt"),
               tr("Tokens that stand in nobody's view and only carry what the policy needs."),
               firstAccount.beside, secondAccount.beside, Wanted::Either));
  }
  if (a->trace && b->trace) {
    model.rows.push_back(
        counts(tr("Blocks allocated"), tr("Blocks of the pool that the run's requests took for themselves."),
               allocatedBlocks(*a), allocatedBlocks(*b), model.isLike ? Wanted::Less : Wanted::Either));
  }
  const NoTimes none{.left = noTime(*a), .right = noTime(*b)};
  model.rows.insert(
      model.rows.end(),
      {counts(tr("Generated tokens"), {}, first.generatedTokens, second.generatedTokens, Wanted::Either),
       times(tr("TTFT"),
             tr("Time to first token, from the moment a step could start; median of the run's steps."),
             first.timeToFirstToken, second.timeToFirstToken, none, isFair, baseText),
       times(tr("ITL"),
             tr("Inter-token latency: mean time between two generated tokens; median of the run's steps."),
             first.interTokenLatency, second.interTokenLatency, none, isFair, baseText),
       times(tr("Whole run"), tr("From the start of the run to its end."), first.whole, second.whole, none,
             isFair, baseText),
       words(tr("Answer"), {}, firstAnswer, secondAnswer)});
  model.answers = textDiff(firstAnswer, secondAnswer);
  model.trees = treeDiff(*a->state().queryJson, *b->state().queryJson);
  model.hasBlocks = a->trace && b->trace;
  if (model.hasBlocks) model.blocks = pairsOf(blocksOf(input, *a), blocksOf(input, *b));
  return model;
}

QString likenessText(const CompareModel& model) {
  if (model.left == 0) return {};
  if (model.differences.isEmpty())
    return tr("The same document, query, model and settings: like is compared with like.");
  const QString list = model.differences.join(tr(", "));
  return model.isLike ? tr("Run %1 has: %2.").arg(model.right).arg(list)
                      : tr("Not like with like. Run %1 has: %2.").arg(model.right).arg(list);
}

QString compareCsv(const CompareModel& model) {
  QString text =
      csvLine({tr("what"), tr("run %1").arg(model.left), tr("run %1").arg(model.right), tr("change")});
  for (const CompareRow& row : model.rows) text += csvLine({row.name, row.left, row.right, row.change});
  return text;
}

}  // namespace spanscope::ui
