// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/metric_table.h"

#include "engine/base/translation.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace spanscope::metrics {
namespace {

using trace::BlockLookedUp;
using trace::BlockPlace;
using trace::FidelityMetrics;
using trace::LookupOutcome;
using trace::SegmentInfo;

using Maybe = std::optional<Value>;

template <class Number>
Maybe count(Number number) {
  return static_cast<double>(number);
}

constexpr const char* kAccountEvents = "span_table_laid_out, block_looked_up, batch_computed";

/// Returns the account of all ranges of the node in all prompts, or nothing without such ranges.
std::optional<TokenAccount> accountOfNode(const RunFacts& run, const NodePath& node) {
  std::optional<TokenAccount> account;
  for (const RequestFacts& request : run.requests) {
    for (const NodeRange& range : rangesOf(request, node)) {
      if (!account) account.emplace();
      *account += request.tokens.of(range.segment, range.begin, range.end);
    }
  }
  return account;
}

Maybe ofRequests(const RunFacts& run, std::int64_t number) {
  return run.requests.empty() ? std::nullopt : count(number);
}

/// Returns a number that only the embedded engine reports, about blocks or forward passes.
Maybe ofEngine(const RunFacts& run, std::int64_t number) {
  return run.isRemote ? std::nullopt : ofRequests(run, number);
}

Maybe ofOptional(const std::optional<double>& number) {
  return number ? Maybe(*number) : std::nullopt;
}

/// Returns the first block of the first prompt for which `holds` is true. The number counts from 0, as in the
/// views.
Maybe firstBlock(const RunFacts& run, bool (*holds)(const BlockLookedUp& block)) {
  if (run.requests.empty()) return std::nullopt;
  const RequestFacts& request = run.requests.front();
  const std::vector<BlockPlace> places = blocksInView(request, run.blockSize);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const BlockLookedUp& block : request.lookups) {
      if (BlockPlace{block.segment, block.virtualIndex} == places[i] && holds(block)) return count(i);
    }
  }
  return std::nullopt;
}

std::int64_t blocksOfPrompts(const RunFacts& run) {
  std::int64_t blocks = 0;
  for (const RequestFacts& request : run.requests)
    blocks += static_cast<std::int64_t>(blocksInView(request, run.blockSize).size());
  return blocks;
}

Maybe blocksOfNode(const RunFacts& run, const NodePath& node) {
  std::int64_t blocks = 0;
  for (const RequestFacts& request : run.requests) {
    std::optional<BlockPlace> last;
    for (const NodeRange& range : rangesOf(request, node)) {
      for (std::int32_t local = range.begin; local < range.end; ++local) {
        const BlockPlace place = blockOf({range.segment, local}, run.blockSize);
        blocks += last == place ? 0 : 1;
        last = place;
      }
    }
  }
  return blocks > 0 ? count(blocks) : std::nullopt;
}

Maybe positionOfNode(const RunFacts& run, const NodePath& node) {
  for (const RequestFacts& request : run.requests) {
    const std::vector<NodeRange> ranges = rangesOf(request, node);
    if (!ranges.empty()) return count(request.segments[ranges.front().segment].base + ranges.front().begin);
  }
  return std::nullopt;
}

/// Returns a value of the last started step, whose answer is the run's answer.
Maybe tokensOfFinal(const RunFacts& run, std::int64_t (*tokens)(const PromptAccount&)) {
  if (run.requests.empty()) return std::nullopt;
  const std::optional<PromptAccount> account = accountOf(run.requests.back());
  return account ? count(tokens(*account)) : std::nullopt;
}

Maybe longestPrompt(const RunFacts& run) {
  std::optional<std::int64_t> most;
  for (const RequestFacts& request : run.requests) {
    if (const std::optional<PromptAccount> account = accountOf(request))
      most = std::max(most.value_or(0), account->total());
  }
  return most ? count(*most) : std::nullopt;
}

Maybe tailOfNode(const RunFacts& run, const NodePath& node) {
  std::optional<std::int64_t> tokens;
  for (const RequestFacts& request : run.requests) {
    for (const NodeRange& range : rangesOf(request, node)) {
      const std::int32_t tail = tailBegin(request.segments[range.segment], run.blockSize);
      tokens = tokens.value_or(0) + std::max(range.end - std::max(range.begin, tail), 0);
    }
  }
  return tokens ? count(*tokens) : std::nullopt;
}

Maybe tailOfRun(const RunFacts& run) {
  std::optional<std::int64_t> tokens;
  for (const RequestFacts& request : run.requests) {
    for (const SegmentInfo& segment : request.segments) {
      if (segment.hidden) continue;
      tokens = tokens.value_or(0) + static_cast<std::int64_t>(segment.tokens.size()) -
               tailBegin(segment, run.blockSize);
    }
  }
  return tokens ? count(*tokens) : std::nullopt;
}

constexpr Scopes scopes(Scope scope) {
  return static_cast<Scopes>(scope);
}
template <class... More>
constexpr Scopes scopes(Scope scope, More... more) {
  return static_cast<Scopes>(scopes(scope) | scopes(more...));
}
constexpr Scopes kRun = scopes(Scope::Run);
constexpr Scopes kStep = scopes(Scope::Run, Scope::Request);
constexpr Scopes kCompared = scopes(Scope::Run, Scope::Request, Scope::Comparison);
constexpr Scopes kLayout = scopes(Scope::Run, Scope::Prediction);
constexpr Scopes kPool = scopes(Scope::Pool);
constexpr Scopes kPrompt =
    scopes(Scope::Run, Scope::Request, Scope::Node, Scope::Prediction, Scope::Comparison);

template <std::int64_t TokenAccount::*Member>
std::int64_t tokens(const TokenAccount& account) {
  return account.*Member;
}

template <std::optional<double> Totals::*Member>
Maybe total(const Totals& totals) {
  return ofOptional(totals.*Member);
}

Maybe total(const std::optional<std::int64_t>& number) {
  return number ? count(*number) : std::nullopt;
}

Maybe ofBlocks(const PoolFacts& pool, std::int32_t PoolCounts::*member) {
  return pool.blocks ? count((*pool.blocks).*member) : std::nullopt;
}

template <CountRange PredictedAccount::*Member>
std::optional<CountRange> predicted(const PredictedAccount& account) {
  return account.*Member;
}

/// Returns a number that may depend on the lengths of answers.
template <std::optional<std::int64_t> PredictedAccount::*Member>
std::optional<CountRange> predictedCount(const PredictedAccount& account) {
  const std::optional<std::int64_t>& number = account.*Member;
  return number ? std::optional(CountRange{.least = *number, .most = *number}) : std::nullopt;
}

/// Returns e.g. " ms" if a number alone is ambiguous; otherwise an empty text.
std::string unitBehind(const Metric& metric) {
  const bool isPlain = metric.unit == Unit::Number || metric.unit == Unit::Tokens ||
                       metric.unit == Unit::Blocks || metric.unit == Unit::Place || metric.unit == Unit::Text;
  return isPlain ? std::string() : std::string(" ") + unitName(metric.unit);
}

const std::vector<Metric>& table() {
  static const std::vector<Metric> list = {
      {.id = "prompt-tokens",
       .name = forTranslation("Metrics", "prompt tokens"),
       .shortName = forTranslation("Metrics", "prompt"),
       .key = "prompt",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Metrics", "tokens of the prompt: texts, tokens of the chat template, and answers of subqueries"),
       .events = kAccountEvents,
       .scopes = kPrompt,
       .ofTokens = [](const TokenAccount& account) { return account.total(); },
       .ofTotals =
           [](const Totals& totals) {
             return totals.account ? count(totals.account->total()) : total(totals.promptTokens);
           },
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.tokens); },
       .ofPrediction = predicted<&PredictedAccount::prompt>},
      {.id = "cached-tokens",
       .name = forTranslation("Metrics", "cached tokens"),
       .shortName = forTranslation("Metrics", "cached"),
       .unit = Unit::Tokens,
       .better = Better::More,
       .meaning = forTranslation(
           "Metrics",
           "prompt tokens whose keys and values were reused from the pool, including relocated tokens"),
       .events = kAccountEvents,
       .scopes = kPrompt,
       .ofTokens = [](const TokenAccount& account) { return account.cached(); },
       .ofPrediction = predicted<&PredictedAccount::cached>},
      {.id = "prefix-equivalent-tokens",
       .name = forTranslation("Metrics", "prefix-equivalent tokens"),
       .shortName = forTranslation("Metrics", "prefix-equivalent"),
       .key = "prefix_equivalent",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Metrics", "prompt tokens that a stock prefix cache of the same size would have reused"),
       .events = "span_table_laid_out, request_admitted, token_generated, step_finished",
       .scopes = kCompared,
       .isPlotted = true,
       .meter = prefixEquivalent},
      {.id = "hit-tokens",
       .name = forTranslation("Metrics", "hit tokens"),
       .shortName = forTranslation("Metrics", "hit"),
       .key = "hit",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "prompt tokens that were reused at their stored position"),
       .events = kAccountEvents,
       .scopes = scopes(Scope::Run, Scope::Request, Scope::Node),
       .ofTokens = tokens<&TokenAccount::hit>},
      {.id = "relocated-tokens",
       .name = forTranslation("Metrics", "relocated tokens"),
       .shortName = forTranslation("Metrics", "relocated"),
       .key = "relocated",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics",
                                 "prompt tokens that were reused at another position than the stored one"),
       .events = kAccountEvents,
       .scopes = kPrompt,
       .ofTokens = tokens<&TokenAccount::relocated>,
       .ofPrediction = predicted<&PredictedAccount::relocated>},
      {.id = "tokens-computed-again",
       .name = forTranslation("Metrics", "recomputed tokens"),
       .shortName = forTranslation("Metrics", "recomputed"),
       .key = "computed_again",
       .unit = Unit::Tokens,
       .better = Better::Less,
       .meaning = forTranslation("Metrics",
                                 "prompt tokens that the pool had and the policy recomputed for this prompt. "
                                 "Recomputed tokens do not count as cached"),
       .events = "block_looked_up, tokens_recomputed",
       .scopes = kPrompt,
       .ofTokens = tokens<&TokenAccount::again>,
       .ofPrediction = predicted<&PredictedAccount::again>},
      {.id = "computed-tokens",
       .name = forTranslation("Metrics", "computed tokens"),
       .shortName = forTranslation("Metrics", "computed"),
       .key = "computed",
       .unit = Unit::Tokens,
       .better = Better::Less,
       .meaning =
           forTranslation("Metrics", "prompt tokens that the pool did not have and that were computed"),
       .events = kAccountEvents,
       .scopes = kPrompt,
       .ofTokens = tokens<&TokenAccount::computed>,
       .ofPrediction = predicted<&PredictedAccount::computed>},
      {.id = "unread-tokens",
       .name = forTranslation("Metrics", "tokens not computed"),
       .shortName = forTranslation("Metrics", "not computed"),
       .key = "unread",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Metrics",
           "prompt tokens that the pool did not have and that a stopped or failed step did not compute"),
       .events = kAccountEvents,
       .scopes = kCompared,
       .isRare = true,
       .ofTotals =
           [](const Totals& totals) {
             return totals.account ? count(totals.account->unread) : std::nullopt;
           }},
      {.id = "cropped-tokens",
       .name = forTranslation("Metrics", "cropped tokens"),
       .shortName = forTranslation("Metrics", "cropped"),
       .key = "cropped",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "tokens of the exact prompt that the layout truncates"),
       .events = "layout_applied",
       .scopes = scopes(Scope::Run, Scope::Request, Scope::Prediction, Scope::Comparison),
       .isRare = true,
       .ofTokens = tokens<&TokenAccount::cropped>,
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.cropped); },
       .ofPrediction = predictedCount<&PredictedAccount::cropped>},
      {.id = "padding-tokens",
       .name = forTranslation("Metrics", "padding tokens"),
       .shortName = forTranslation("Metrics", "padding"),
       .key = "padding",
       .unit = Unit::Tokens,
       .better = Better::Less,
       .meaning = forTranslation(
           "Metrics",
           "prompt tokens that only fill a block before a delimiter token, both cached and computed"),
       .events = "layout_applied",
       .scopes = kPrompt,
       .isRare = true,
       .ofTokens = tokens<&TokenAccount::padding>,
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.pads); },
       .ofPrediction = predictedCount<&PredictedAccount::padding>},
      {.id = "padding-blocks",
       .name = forTranslation("Metrics", "blocks with padding"),
       .shortName = forTranslation("Metrics", "with padding"),
       .unit = Unit::Blocks,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "virtual blocks that have padding tokens"),
       .events = "layout_applied",
       .scopes = kLayout,
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.padBlocks); }},
      {.id = "delimiter-tokens",
       .name = forTranslation("Metrics", "delimiter tokens"),
       .shortName = forTranslation("Metrics", "delimiters"),
       .key = "delimiters",
       .unit = Unit::Tokens,
       .better = Better::Less,
       .meaning = forTranslation("Metrics",
                                 "prompt tokens that the layout adds before each child of plus and the last "
                                 "child of cross, cached or computed"),
       .events = "layout_applied",
       .scopes = kPrompt,
       .isRare = true,
       .ofTokens = tokens<&TokenAccount::delimiters>,
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.markers); },
       .ofPrediction = predictedCount<&PredictedAccount::delimiters>},
      {.id = "added-tokens",
       .name = forTranslation("Metrics", "added tokens"),
       .shortName = forTranslation("Metrics", "added"),
       .unit = Unit::Change,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "change in the number of prompt tokens from the exact layout"),
       .events = "layout_applied",
       .scopes = kLayout,
       .ofLayout = [](const LayoutMetrics& layout) { return count(layout.added()); }},
      {.id = "tokens-beside-the-prompt",
       .name = forTranslation("Metrics", "tokens beside the prompt"),
       .shortName = forTranslation("Metrics", "beside the prompt"),
       .key = "beside",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics",
                                 "tokens that only the policy needs: hidden copies of first tokens, and "
                                 "missing tokens that the policy then recomputes"),
       .events = "request_admitted, tokens_recomputed",
       .scopes = scopes(Scope::Run, Scope::Request, Scope::Prediction, Scope::Comparison),
       .isRare = true,
       .ofTotals =
           [](const Totals& totals) { return totals.account ? count(totals.account->beside) : std::nullopt; },
       .ofPrediction = predicted<&PredictedAccount::beside>},
      {.id = "allocated-blocks",
       .name = forTranslation("Metrics", "allocated blocks"),
       .shortName = forTranslation("Metrics", "allocated"),
       .unit = Unit::Blocks,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "blocks of the pool that were allocated for the requests"),
       .events = "block_allocated",
       .scopes = kCompared,
       .ofTotals = [](const Totals& totals) { return total(totals.allocatedBlocks); }},
      {.id = "generated-tokens",
       .name = forTranslation("Metrics", "generated tokens"),
       .shortName = forTranslation("Metrics", "generated"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "tokens of the answers, including end tokens"),
       .events = "token_generated, step_metrics",
       .scopes = kCompared,
       .ofTotals = [](const Totals& totals) { return total(totals.generatedTokens); }},
      {.id = "time-to-first-token",
       .name = forTranslation("Metrics", "time to first token"),
       .shortName = forTranslation("Metrics", "TTFT"),
       .unit = Unit::Seconds,
       .better = Better::Less,
       .meaning = forTranslation(
           "Metrics", "time from a step's earliest possible start to its first token; for a run, the median"),
       .events = "step_metrics",
       .scopes = kCompared,
       .isPlotted = true,
       .ofTotals = total<&Totals::timeToFirstToken>},
      {.id = "inter-token-latency",
       .name = forTranslation("Metrics", "inter-token latency"),
       .shortName = forTranslation("Metrics", "ITL"),
       .unit = Unit::Seconds,
       .better = Better::Less,
       .meaning = forTranslation(
           "Metrics",
           "mean time between the generated tokens of a step; for a run, the median over its steps"),
       .events = "step_metrics",
       .scopes = kCompared,
       .isPlotted = true,
       .ofTotals = total<&Totals::interTokenLatency>},
      {.id = "queue-time",
       .name = forTranslation("Metrics", "queue time"),
       .shortName = forTranslation("Metrics", "queue"),
       .unit = Unit::Seconds,
       .better = Better::Less,
       .meaning =
           forTranslation("Metrics", "time from the earliest possible start of a step to its admission"),
       .events = "step_metrics",
       .scopes = scopes(Scope::Request),
       .ofTotals = total<&Totals::queueTime>},
      {.id = "whole-run",
       .name = forTranslation("Metrics", "whole run"),
       .shortName = forTranslation("Metrics", "whole run"),
       .unit = Unit::Seconds,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "time from the start of the run to its end"),
       .events = "run_started, run_finished",
       .scopes = scopes(Scope::Run, Scope::Comparison),
       .ofTotals = total<&Totals::whole>},
      {.id = "prefill-speed",
       .name = forTranslation("Metrics", "prefill speed"),
       .shortName = forTranslation("Metrics", "prefill"),
       .unit = Unit::TokensPerSecond,
       .better = Better::More,
       .meaning = forTranslation(
           "Metrics", "prompt tokens of the run, divided by the time of forward passes with prompt tokens"),
       .events = "batch_computed",
       .scopes = kStep,
       .ofTotals = total<&Totals::prefillRate>},
      {.id = "decode-speed",
       .name = forTranslation("Metrics", "decode speed"),
       .shortName = forTranslation("Metrics", "decode"),
       .unit = Unit::TokensPerSecond,
       .better = Better::More,
       .meaning = forTranslation(
           "Metrics", "generated tokens of the run, divided by the time of forward passes that only decode"),
       .events = "batch_computed",
       .scopes = kStep,
       .ofTotals = total<&Totals::decodeRate>},
      {.id = "hit-rate",
       .name = forTranslation("Metrics", "hit rate"),
       .shortName = forTranslation("Metrics", "hit rate"),
       .unit = Unit::Share,
       .better = Better::More,
       .meaning = forTranslation("Metrics", "cached tokens / prompt tokens"),
       .events = kAccountEvents,
       .scopes = kRun,
       .ofTotals = [](const Totals& totals) -> Maybe {
         if (!totals.account || totals.account->total() <= 0) return std::nullopt;
         return static_cast<double>(totals.account->prompt.cached()) /
                static_cast<double>(totals.account->total());
       }},
      {.id = "recent-hit-rate",
       .name = forTranslation("Metrics", "hit rate of recent requests"),
       .shortName = forTranslation("Metrics", "recent hit rate"),
       .unit = Unit::Share,
       .better = Better::More,
       .meaning =
           forTranslation("Metrics",
                          "cached tokens / prompt tokens of the newest 1000 requests since the cache was "
                          "emptied; recomputed tokens count as cached"),
       .events = "request_admitted, cache_cleared",
       .scopes = kStep,
       .meter = recentHitRate,
       .over = Over::Last},
      {.id = "tail-tokens",
       .name = forTranslation("Metrics", "tokens in partial blocks"),
       .shortName = forTranslation("Metrics", "in partial blocks"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics",
                                 "prompt tokens in partial blocks; a cache with only full blocks computes "
                                 "these tokens each time"),
       .events = "span_table_laid_out",
       .scopes = scopes(Scope::Run, Scope::Node),
       .ofRun = tailOfRun,
       .ofNode = tailOfNode},
      {.id = "longest-prompt",
       .name = forTranslation("Metrics", "longest prompt"),
       .shortName = forTranslation("Metrics", "longest prompt"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "tokens of the longest prompt of the run"),
       .events = kAccountEvents,
       .scopes = kRun,
       .ofRun = longestPrompt},
      {.id = "final-prompt-tokens",
       .name = forTranslation("Metrics", "prompt tokens of the last step"),
       .shortName = forTranslation("Metrics", "last prompt"),
       .unit = Unit::Tokens,
       .meaning =
           forTranslation("Metrics", "prompt tokens of only the last step, whose answer is the run's answer"),
       .events = kAccountEvents,
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.total(); });
           }},
      {.id = "final-cached-tokens",
       .name = forTranslation("Metrics", "cached tokens of the last step"),
       .shortName = forTranslation("Metrics", "cached, last step"),
       .unit = Unit::Tokens,
       .better = Better::More,
       .meaning = forTranslation("Metrics", "cached tokens of only the last step"),
       .events = kAccountEvents,
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.prompt.cached(); });
           }},
      {.id = "final-computed-tokens",
       .name = forTranslation("Metrics", "computed tokens of the last step"),
       .shortName = forTranslation("Metrics", "computed, last step"),
       .unit = Unit::Tokens,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "computed tokens of only the last step"),
       .events = kAccountEvents,
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.prompt.computed; });
           }},
      {.id = "final-time-to-first-token",
       .name = forTranslation("Metrics", "time to first token of the last step"),
       .shortName = forTranslation("Metrics", "TTFT, last step"),
       .unit = Unit::Seconds,
       .better = Better::Less,
       .meaning = forTranslation(
           "Metrics", "time to first token of only the last step, whose answer is the run's answer"),
       .events = "step_metrics",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) -> Maybe {
         return run.requests.empty() ? std::nullopt : ofOptional(run.requests.back().timeToFirstToken);
       }},
      {.id = "position",
       .name = forTranslation("Metrics", "position"),
       .shortName = forTranslation("Metrics", "position"),
       .unit = Unit::Number,
       .meaning = forTranslation(
           "Metrics", "position of the first token of a node in the first prompt that shows it, from 0"),
       .events = "span_table_laid_out",
       .scopes = scopes(Scope::Node),
       .ofNode = positionOfNode},
      {.id = "prompts",
       .name = forTranslation("Metrics", "prompts"),
       .shortName = forTranslation("Metrics", "prompts"),
       .unit = Unit::Number,
       .meaning = forTranslation("Metrics", "prompts that were answered: one for each step of the plan"),
       .events = "step_started",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return count(run.requests.size()); }},
      {.id = "blocks",
       .name = forTranslation("Metrics", "blocks"),
       .shortName = forTranslation("Metrics", "blocks"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "virtual blocks with the tokens of the prompts"),
       .events = "span_table_laid_out",
       .scopes = scopes(Scope::Run, Scope::Node),
       .ofRun = [](const RunFacts& run) { return ofEngine(run, blocksOfPrompts(run)); },
       .ofNode = blocksOfNode},
      {.id = "hit-blocks",
       .name = forTranslation("Metrics", "hit blocks"),
       .shortName = forTranslation("Metrics", "hit"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "virtual blocks that were hits at their stored position"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.hit); }},
      {.id = "relocated-blocks",
       .name = forTranslation("Metrics", "relocated blocks"),
       .shortName = forTranslation("Metrics", "relocated"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "virtual blocks that were hits at another position"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.relocated); }},
      {.id = "partial-blocks",
       .name = forTranslation("Metrics", "partial hits"),
       .shortName = forTranslation("Metrics", "partial"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "virtual blocks with a hit only for their first tokens"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.partial); }},
      {.id = "missed-blocks",
       .name = forTranslation("Metrics", "missed blocks"),
       .shortName = forTranslation("Metrics", "missed"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "virtual blocks without a hit"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.missed); }},
      {.id = "stored-blocks",
       .name = forTranslation("Metrics", "stored blocks"),
       .shortName = forTranslation("Metrics", "stored"),
       .unit = Unit::Blocks,
       .meaning = forTranslation(
           "Metrics", "blocks whose content entered the cache; a partial block that grows is stored again"),
       .events = "block_stored",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.stored); }},
      {.id = "evicted-blocks",
       .name = forTranslation("Metrics", "evicted blocks"),
       .shortName = forTranslation("Metrics", "evicted"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks whose content was evicted from the pool"),
       .events = "block_removed",
       .scopes = scopes(Scope::Run, Scope::Prediction),
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.evicted); },
       .ofPrediction = predicted<&PredictedAccount::evicted>},
      {.id = "block-size",
       .name = forTranslation("Metrics", "block size"),
       .shortName = forTranslation("Metrics", "block size"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "token slots of a block"),
       .events = "session_started",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return run.isRemote ? std::nullopt : count(run.blockSize); }},
      {.id = "pool-blocks",
       .name = forTranslation("Metrics", "pool blocks"),
       .shortName = forTranslation("Metrics", "pool"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks of the pool that can hold tokens"),
       .events = "session_started",
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) { return run.poolBlocks > 0 ? count(run.poolBlocks) : std::nullopt; }},
      {.id = "blocks-in-use",
       .name = forTranslation("Metrics", "blocks in use"),
       .shortName = forTranslation("Metrics", "in use"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks that at least one running request references"),
       .events = "block_allocated, block_shared, block_released",
       .scopes = kPool,
       .ofPool =
           [](const PoolFacts& pool) { return pool.blocks ? count(pool.blocks->inUse()) : std::nullopt; }},
      {.id = "shared-blocks",
       .name = forTranslation("Metrics", "shared blocks"),
       .shortName = forTranslation("Metrics", "shared"),
       .unit = Unit::Blocks,
       .better = Better::More,
       .meaning = forTranslation("Metrics", "blocks that two or more running requests reference"),
       .events = "block_allocated, block_shared, block_released",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofBlocks(pool, &PoolCounts::shared); }},
      {.id = "unshared-blocks",
       .name = forTranslation("Metrics", "unshared blocks"),
       .shortName = forTranslation("Metrics", "unshared"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks that exactly one running request references"),
       .events = "block_allocated, block_shared, block_released",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofBlocks(pool, &PoolCounts::unshared); }},
      {.id = "cached-blocks",
       .name = forTranslation("Metrics", "cached blocks"),
       .shortName = forTranslation("Metrics", "cached"),
       .unit = Unit::Blocks,
       .meaning =
           forTranslation("Metrics", "blocks that no request references and that a later request can reuse"),
       .events = "block_allocated, block_stored, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofBlocks(pool, &PoolCounts::cached); }},
      {.id = "free-blocks",
       .name = forTranslation("Metrics", "free blocks"),
       .shortName = forTranslation("Metrics", "free"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks of the pool without content"),
       .events = "block_allocated, block_stored, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofBlocks(pool, &PoolCounts::free); }},
      {.id = "filled-blocks",
       .name = forTranslation("Metrics", "filled blocks"),
       .shortName = forTranslation("Metrics", "filled"),
       .unit = Unit::Blocks,
       .meaning = forTranslation("Metrics", "blocks in use and cached blocks together"),
       .events = "block_allocated, block_stored, block_removed",
       .scopes = kPool,
       .ofPool =
           [](const PoolFacts& pool) { return pool.blocks ? count(pool.blocks->filled()) : std::nullopt; }},
      {.id = "peak-blocks",
       .name = forTranslation("Metrics", "peak blocks"),
       .shortName = forTranslation("Metrics", "peak"),
       .unit = Unit::Blocks,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "the largest number of blocks in use at the same time"),
       .events = "block_allocated, block_shared, block_released",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return total(pool.peak); }},
      {.id = "cache-memory",
       .name = forTranslation("Metrics", "cache memory"),
       .shortName = forTranslation("Metrics", "memory"),
       .unit = Unit::Bytes,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "memory of the blocks that hold keys and values"),
       .events = "block_allocated, block_stored, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return total(pool.bytes); }},
      {.id = "pool-time",
       .name = forTranslation("Metrics", /*id:time-pool*/ "time in the pool"),
       .shortName = forTranslation("Metrics", "in the pool"),
       .unit = Unit::Seconds,
       .better = Better::More,
       .meaning = forTranslation(
           "Metrics",
           "time from the allocation of a block to its eviction; the median over all evicted blocks"),
       .events = "block_allocated, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofOptional(pool.residency.lifetime); }},
      {.id = "idle-time",
       .name = forTranslation("Metrics", "idle time"),
       .shortName = forTranslation("Metrics", "idle"),
       .unit = Unit::Seconds,
       .meaning = forTranslation(
           "Metrics",
           "time from the last use of a block to its eviction; the median over all evicted blocks"),
       .events = "block_allocated, block_shared, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofOptional(pool.residency.idle); }},
      {.id = "reuse-interval",
       .name = forTranslation("Metrics", "time between uses"),
       .shortName = forTranslation("Metrics", "between uses"),
       .unit = Unit::Seconds,
       .meaning = forTranslation(
           "Metrics",
           "time between two uses of an evicted block; the median over its four newest uses and all blocks"),
       .events = "block_shared, block_removed",
       .scopes = kPool,
       .ofPool = [](const PoolFacts& pool) { return ofOptional(pool.residency.gap); }},
      {.id = "first-missing-block",
       .name = forTranslation("Metrics", "first missing block"),
       .shortName = forTranslation("Metrics", "first miss"),
       .unit = Unit::Place,
       .meaning = forTranslation(
           "Metrics",
           "the first block of the first prompt that was not a full hit, counted from 0 as in the views"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) {
             return firstBlock(run, [](const BlockLookedUp& block) {
               return block.outcome == LookupOutcome::Miss || block.outcome == LookupOutcome::Partial;
             });
           }},
      {.id = "first-relocated-block",
       .name = forTranslation("Metrics", "first relocated block"),
       .shortName = forTranslation("Metrics", "first relocated"),
       .unit = Unit::Place,
       .meaning = forTranslation("Metrics",
                                 "the first block of the first prompt that was a relocated hit, "
                                 "counted from 0 as in the views"),
       .events = "block_looked_up",
       .scopes = kRun,
       .ofRun =
           [](const RunFacts& run) {
             return firstBlock(
                 run, [](const BlockLookedUp& block) { return block.outcome == LookupOutcome::Relocated; });
           }},
      {.id = "passes",
       .name = forTranslation("Metrics", "forward passes"),
       .shortName = forTranslation("Metrics", "passes"),
       .unit = Unit::Number,
       .meaning = forTranslation("Metrics", "forward passes that computed at least one token of the run"),
       .events = "batch_computed",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.passes); }},
      {.id = "decode-passes",
       .name = forTranslation("Metrics", "decode passes"),
       .shortName = forTranslation("Metrics", "decode passes"),
       .unit = Unit::Number,
       .meaning = forTranslation("Metrics",
                                 "forward passes that computed a generated token and no token of a prompt"),
       .events = "batch_computed",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.decodePasses); }},
      {.id = "largest-pass",
       .name = forTranslation("Metrics", "largest pass"),
       .shortName = forTranslation("Metrics", "largest pass"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "max tokens of the run in one forward pass"),
       .events = "batch_computed",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.mostRows); }},
      {.id = "divergence",
       .name = forTranslation("Metrics", "KL divergence"),
       .shortName = forTranslation("Metrics", "KL"),
       .unit = Unit::Nats,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "KL(full ‖ policy) of the next token, mean over the answer"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.meanDivergence); },
       .needs = Needs::Fidelity},
      {.id = "largest-divergence",
       .name = forTranslation("Metrics", "largest KL divergence"),
       .shortName = forTranslation("Metrics", "largest KL"),
       .unit = Unit::Nats,
       .better = Better::Less,
       .meaning =
           forTranslation("Metrics", "KL(full ‖ policy) of the next token, at the token where it is largest"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.mostDivergence); },
       .needs = Needs::Fidelity},
      {.id = "median-divergence",
       .name = forTranslation("Metrics", "median KL divergence"),
       .shortName = forTranslation("Metrics", "median KL"),
       .unit = Unit::Nats,
       .better = Better::Less,
       .meaning = forTranslation("Metrics", "KL(full ‖ policy) of the next token, median over the answer"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.medianDivergence); },
       .needs = Needs::Fidelity},
      {.id = "agreeing-tokens",
       .name = forTranslation("Metrics", "agreeing tokens"),
       .shortName = forTranslation("Metrics", "agreeing"),
       .unit = Unit::Tokens,
       .better = Better::More,
       .meaning = forTranslation(
           "Metrics",
           "positions of the answer where policy and full prefill have the same most likely token"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.agreeing); },
       .needs = Needs::Fidelity},
      {.id = "compared-tokens",
       .name = forTranslation("Metrics", "compared tokens"),
       .shortName = forTranslation("Metrics", "compared"),
       .unit = Unit::Tokens,
       .meaning = forTranslation("Metrics", "positions of the answer that were compared with a full prefill"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.tokens); },
       .needs = Needs::Fidelity},
      {.id = "same-answers",
       .name = forTranslation("Metrics", "same answers"),
       .shortName = forTranslation("Metrics", "same answers"),
       .unit = Unit::Number,
       .better = Better::More,
       .meaning = forTranslation("Metrics",
                                 "steps for which a greedy answer after a full prefill has the same tokens"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity = [](const FidelityMetrics& fidelity) { return count(fidelity.sameAnswers); },
       .needs = Needs::Fidelity},
      {.id = "attention-deviation",
       .name = forTranslation("Metrics", "attention deviation"),
       .shortName = forTranslation("Metrics", "attention deviation"),
       .unit = Unit::Number,
       .better = Better::Less,
       .meaning = forTranslation("Metrics",
                                 "distance between the attention with the policy and with full prefill, "
                                 "mean over layers, 0 to √2"),
       .events = "fidelity_measured",
       .scopes = kRun,
       .ofFidelity =
           [](const FidelityMetrics& fidelity) { return ofOptional(fidelity.meanAttentionDeviation()); },
       .needs = Needs::Fidelity},
      {.id = "answer",
       .name = forTranslation("Metrics", "answer"),
       .shortName = forTranslation("Metrics", "answer"),
       .unit = Unit::Text,
       .meaning = forTranslation("Metrics", "the answer text of the run"),
       .events = "run_finished",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) -> Maybe { return run.outcome ? Maybe(run.answer) : std::nullopt; }},
      {.id = "policy",
       .name = forTranslation("Metrics", "policy"),
       .shortName = forTranslation("Metrics", "policy"),
       .unit = Unit::Text,
       .meaning = forTranslation("Metrics", "the reuse policy of the run"),
       .events = "run_started",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) -> Maybe { return run.policy; }},
      {.id = "model",
       .name = forTranslation("Metrics", "model"),
       .shortName = forTranslation("Metrics", "model"),
       .unit = Unit::Text,
       .meaning = forTranslation("Metrics", "the model that computed the run"),
       .events = "session_started",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) -> Maybe { return run.model; }},
      {.id = "layers",
       .name = forTranslation("Metrics", "layers"),
       .shortName = forTranslation("Metrics", "layers"),
       .unit = Unit::Number,
       .meaning = forTranslation("Metrics", "layers of the model"),
       .events = "session_started",
       .scopes = kRun,
       .ofRun = [](const RunFacts& run) { return run.layers > 0 ? count(run.layers) : std::nullopt; }},

  };
  return list;
}

}  // namespace

std::optional<Value> Metric::of(const Totals& totals) const {
  if (meter != nullptr) {
    const auto found = totals.metered.find(id);
    return found == totals.metered.end() ? std::nullopt : Maybe(found->second);
  }
  if (ofTotals != nullptr) return ofTotals(totals);
  return ofTokens != nullptr && totals.account ? count(ofTokens(totals.account->prompt)) : std::nullopt;
}

std::optional<Value> Metric::of(const RunFacts& run) const {
  if (!isOf(Scope::Run)) return std::nullopt;
  if (ofRun != nullptr) return ofRun(run);
  if (ofTokens != nullptr || ofTotals != nullptr || meter != nullptr) return of(totalsOf(run));
  if (ofLayout != nullptr) return run.layout ? ofLayout(*run.layout) : std::nullopt;
  return ofFidelity != nullptr && run.fidelity ? ofFidelity(*run.fidelity) : std::nullopt;
}

std::optional<Value> Metric::of(const RunFacts& run, const NodePath& node) const {
  if (ofNode != nullptr) return ofNode(run, node);
  if (!isOf(Scope::Node) || ofTokens == nullptr) return std::nullopt;
  const std::optional<TokenAccount> account = accountOfNode(run, node);
  return account ? count(ofTokens(*account)) : std::nullopt;
}

std::optional<Value> Metric::of(const TokenAccount& account) const {
  return of(Totals{.account = PromptAccount{.prompt = account}});
}

std::optional<Value> Metric::of(const trace::FidelityMetrics& fidelity) const {
  return ofFidelity != nullptr ? ofFidelity(fidelity) : std::nullopt;
}

std::optional<Value> Metric::of(const LayoutMetrics& layout) const {
  return ofLayout != nullptr ? ofLayout(layout) : std::nullopt;
}

std::optional<Value> Metric::of(const PoolFacts& pool) const {
  return ofPool != nullptr ? ofPool(pool) : std::nullopt;
}

std::optional<CountRange> Metric::of(const PredictedAccount& account) const {
  return ofPrediction != nullptr ? ofPrediction(account) : std::nullopt;
}

std::optional<double> Metric::number(const Totals& totals) const {
  const std::optional<Value> value = of(totals);
  const double* const known = value ? std::get_if<double>(&*value) : nullptr;
  return known != nullptr ? std::optional(*known) : std::nullopt;
}

std::span<const Metric> all() {
  return table();
}

const Metric* find(std::string_view id) {
  const auto isId = [id](const Metric& metric) {
    return std::equal(
        id.begin(), id.end(), metric.id, metric.id + std::string_view(metric.id).size(),
        [](char written, char own) { return written == own || (written == ' ' && own == '-'); });
  };
  const std::vector<Metric>& list = table();
  const auto found = std::ranges::find_if(list, isId);
  return found == list.end() ? nullptr : &*found;
}

const Metric& get(std::string_view id) {
  const Metric* const found = find(id);
  if (found == nullptr) throw std::invalid_argument("no metric " + std::string(id));
  return *found;
}

std::string lessonName(const Metric& metric) {
  if (find(metric.name) == &metric) return metric.name;
  std::string name(metric.id);
  std::ranges::replace(name, '-', ' ');
  return name;
}

std::string heading(const Metric& metric) {
  return metric.name + unitBehind(metric);
}

std::string shortHeading(const Metric& metric) {
  return metric.shortName + unitBehind(metric);
}

}  // namespace spanscope::metrics
