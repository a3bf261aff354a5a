// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/figure_table.h"

#include "engine/base/translation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace spanscope::trace {
namespace {

using Value = std::optional<FigureValue>;

template <class Number>
Value count(Number number) {
  return static_cast<double>(number);
}

constexpr const char* kAccountEvents = "span_table_laid_out, block_looked_up, batch_computed";

/// A number of tokens that the account of a prompt has, of a run or of a node.
template <std::int64_t TokenAccount::*Member>
Value tokensOfRun(const RunFacts& run) {
  if (run.requests.empty() || !run.isAccounted) return std::nullopt;
  return count(run.account.prompt.*Member);
}

Value tokensBeside(const RunFacts& run) {
  if (run.requests.empty() || !run.isAccounted) return std::nullopt;
  return count(run.account.beside);
}

/// Of all ranges of the node in all prompts; nothing where there are none.
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

template <std::int64_t TokenAccount::*Member>
Value tokensOfNode(const RunFacts& run, const NodePath& node) {
  const std::optional<TokenAccount> account = accountOfNode(run, node);
  return account ? count((*account).*Member) : std::nullopt;
}

Value ofRequests(const RunFacts& run, std::int64_t number) {
  return run.requests.empty() ? std::nullopt : count(number);
}

Value ofAccount(const RunFacts& run, std::int64_t number) {
  return run.isAccounted ? ofRequests(run, number) : std::nullopt;
}

/// Of what only the embedded engine tells: blocks and passes.
Value ofEngine(const RunFacts& run, std::int64_t number) {
  return run.isRemote ? std::nullopt : ofRequests(run, number);
}

Value ofFidelity(const RunFacts& run, double (*figure)(const FidelityFigures&)) {
  return run.fidelity ? count(figure(*run.fidelity)) : std::nullopt;
}

Value ofOptional(const std::optional<double>& number) {
  return number ? Value(*number) : std::nullopt;
}

/// The first block of the first prompt for which this holds, counted from 0 in view order, as views number
/// them.
Value firstBlock(const RunFacts& run, bool (*holds)(const BlockLookedUp& block)) {
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

Value blocksOfNode(const RunFacts& run, const NodePath& node) {
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

Value positionOfNode(const RunFacts& run, const NodePath& node) {
  for (const RequestFacts& request : run.requests) {
    const std::vector<NodeRange> ranges = rangesOf(request, node);
    if (!ranges.empty()) return count(request.segments[ranges.front().segment].base + ranges.front().begin);
  }
  return std::nullopt;
}

/// Of the last step that began, whose answer is the run's.
Value tokensOfFinal(const RunFacts& run, std::int64_t (*tokens)(const PromptAccount&)) {
  if (run.requests.empty()) return std::nullopt;
  const std::optional<PromptAccount> account = accountOf(run.requests.back());
  return account ? count(tokens(*account)) : std::nullopt;
}

Value longestPrompt(const RunFacts& run) {
  std::optional<std::int64_t> most;
  for (const RequestFacts& request : run.requests) {
    if (const std::optional<PromptAccount> account = accountOf(request))
      most = std::max(most.value_or(0), account->total());
  }
  return most ? count(*most) : std::nullopt;
}

Value tailOfNode(const RunFacts& run, const NodePath& node) {
  std::optional<std::int64_t> tokens;
  for (const RequestFacts& request : run.requests) {
    for (const NodeRange& range : rangesOf(request, node)) {
      const std::int32_t tail = tailBegin(request.segments[range.segment], run.blockSize);
      tokens = tokens.value_or(0) + std::max(range.end - std::max(range.begin, tail), 0);
    }
  }
  return tokens ? count(*tokens) : std::nullopt;
}

Value tailOfRun(const RunFacts& run) {
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

const std::vector<Figure>& table() {
  using Unit = FigureUnit;
  static const std::vector<Figure> list = {
      {.name = "prompt tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Figures",
           "tokens of the prompt: texts, what the chat template writes, and replies of inner steps"),
       .events = kAccountEvents,
       .ofRun = [](const RunFacts& run) { return ofAccount(run, run.account.total()); },
       .ofNode = [](const RunFacts& run, const NodePath& node) -> Value {
         const std::optional<TokenAccount> account = accountOfNode(run, node);
         return account ? count(account->total()) : std::nullopt;
       }},
      {.name = "cached tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Figures",
           "prompt tokens whose keys and values were found in the pool and used, relocated ones included"),
       .events = kAccountEvents,
       .ofRun = [](const RunFacts& run) { return ofAccount(run, run.account.prompt.cached()); },
       .ofNode = [](const RunFacts& run, const NodePath& node) -> Value {
         const std::optional<TokenAccount> account = accountOfNode(run, node);
         return account ? count(account->cached()) : std::nullopt;
       }},
      {.name = "hit tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "prompt tokens that were found where they stand"),
       .events = kAccountEvents,
       .ofRun = tokensOfRun<&TokenAccount::hit>,
       .ofNode = tokensOfNode<&TokenAccount::hit>},
      {.name = "relocated tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "prompt tokens that were found at another position"),
       .events = kAccountEvents,
       .ofRun = tokensOfRun<&TokenAccount::relocated>,
       .ofNode = tokensOfNode<&TokenAccount::relocated>},
      {.name = "computed tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "prompt tokens that were not found and had to be computed"),
       .events = kAccountEvents,
       .ofRun = tokensOfRun<&TokenAccount::computed>,
       .ofNode = tokensOfNode<&TokenAccount::computed>},
      {.name = "tokens computed again",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Figures", "prompt tokens that were found, and computed anew because the policy wants it"),
       .events = "block_looked_up, tokens_recomputed",
       .ofRun = tokensOfRun<&TokenAccount::again>,
       .ofNode = tokensOfNode<&TokenAccount::again>},
      {.name = "tokens beside the prompt",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures",
                                 "tokens that only the policy needs: hidden beginnings, and tokens that were "
                                 "not found and were computed a second time in view of the whole prompt"),
       .events = "request_admitted, tokens_recomputed",
       .ofRun = tokensBeside},
      {.name = "padded tokens",
       .unit = Unit::Tokens,
       .meaning =
           forTranslation("Figures", "of the prompt, what only the layout put there: pads and markers"),
       .events = "layout_applied",
       .ofRun = tokensOfRun<&TokenAccount::padded>,
       .ofNode = tokensOfNode<&TokenAccount::padded>},
      {.name = "cropped tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "tokens of the text that the layout left out of the prompt"),
       .events = "layout_applied",
       .ofRun = tokensOfRun<&TokenAccount::cropped>},
      {.name = "tail tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Figures",
           "prompt tokens in blocks that their segment does not fill; where only full blocks are kept, they "
           "are computed each time"),
       .events = "span_table_laid_out",
       .ofRun = tailOfRun,
       .ofNode = tailOfNode},
      {.name = "longest prompt",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "most tokens that one prompt of the run has"),
       .events = kAccountEvents,
       .ofRun = longestPrompt},
      {.name = "final prompt tokens",
       .unit = Unit::Tokens,
       .meaning =
           forTranslation("Figures", "prompt tokens of the last step alone, whose answer is that of the run"),
       .events = kAccountEvents,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.total(); });
           }},
      {.name = "final cached tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "of these, the ones that were found and used"),
       .events = kAccountEvents,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.prompt.cached(); });
           }},
      {.name = "final computed tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "of these, the ones that had to be computed"),
       .events = kAccountEvents,
       .ofRun =
           [](const RunFacts& run) {
             return tokensOfFinal(run, [](const PromptAccount& account) { return account.prompt.computed; });
           }},
      {.name = "generated tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "tokens of the replies, end tokens included"),
       .events = "token_generated, step_metrics",
       .ofRun = [](const RunFacts& run) { return ofRequests(run, run.figures.generatedTokens); }},
      {.name = "hit rate",
       .unit = Unit::Share,
       .meaning = forTranslation("Figures", "cached tokens / prompt tokens"),
       .events = kAccountEvents,
       .ofRun = [](const RunFacts& run) -> Value {
         const std::int64_t all = run.account.total();
         if (all <= 0 || !run.isAccounted) return std::nullopt;
         return static_cast<double>(run.account.prompt.cached()) / static_cast<double>(all);
       }},
      {.name = "position",
       .unit = Unit::Number,
       .meaning = forTranslation(
           "Figures", "position of the first token of a node in the first prompt that shows it, from 0"),
       .events = "span_table_laid_out",
       .ofNode = positionOfNode},
      {.name = "prompts",
       .unit = Unit::Number,
       .meaning = forTranslation("Figures", "prompts that were answered: one for each step of the plan"),
       .events = "step_started",
       .ofRun = [](const RunFacts& run) { return count(run.requests.size()); }},
      {.name = "blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "virtual blocks that the tokens of the prompts stand in"),
       .events = "span_table_laid_out",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, blocksOfPrompts(run)); },
       .ofNode = blocksOfNode},
      {.name = "hit blocks",
       .unit = Unit::Blocks,
       .meaning =
           forTranslation("Figures", "virtual blocks that were found at the position they were stored at"),
       .events = "block_looked_up",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.hit); }},
      {.name = "relocated blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "virtual blocks that were found at another position"),
       .events = "block_looked_up",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.relocated); }},
      {.name = "partial blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "virtual blocks of which only the first tokens were found"),
       .events = "block_looked_up",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.partial); }},
      {.name = "missed blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "virtual blocks that were not found"),
       .events = "block_looked_up",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.missed); }},
      {.name = "stored blocks",
       .unit = Unit::Blocks,
       .meaning =
           forTranslation("Figures", "contents that became known; a block whose tail grows is stored again"),
       .events = "block_stored",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.stored); }},
      {.name = "evicted blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "contents that were taken from the pool to make room"),
       .events = "block_removed",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.blocks.evicted); }},
      {.name = "block size",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "token slots of a block"),
       .events = "session_started",
       .ofRun = [](const RunFacts& run) { return run.isRemote ? std::nullopt : count(run.blockSize); }},
      {.name = "pool blocks",
       .unit = Unit::Blocks,
       .meaning = forTranslation("Figures", "blocks of the pool that can hold something"),
       .events = "session_started",
       .ofRun =
           [](const RunFacts& run) { return run.poolBlocks > 0 ? count(run.poolBlocks) : std::nullopt; }},
      {.name = "first block not found",
       .unit = Unit::Place,
       .meaning = forTranslation(
           "Figures", "the first block of the first prompt that was not wholly found, from 0 in view order"),
       .events = "block_looked_up",
       .ofRun =
           [](const RunFacts& run) {
             return firstBlock(run, [](const BlockLookedUp& block) {
               return block.outcome == LookupOutcome::Miss || block.outcome == LookupOutcome::Partial;
             });
           }},
      {.name = "first relocated block",
       .unit = Unit::Place,
       .meaning = forTranslation(
           "Figures",
           "the first block of the first prompt that was found at another position, from 0 in view order"),
       .events = "block_looked_up",
       .ofRun =
           [](const RunFacts& run) {
             return firstBlock(
                 run, [](const BlockLookedUp& block) { return block.outcome == LookupOutcome::Relocated; });
           }},
      {.name = "passes",
       .unit = Unit::Number,
       .meaning = forTranslation("Figures", "forward passes that computed at least one token of the run"),
       .events = "batch_computed",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.passes); }},
      {.name = "decode passes",
       .unit = Unit::Number,
       .meaning = forTranslation("Figures", "of these, the ones that computed no token of a prompt"),
       .events = "batch_computed",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.decodePasses); }},
      {.name = "largest pass",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "most tokens of the run that one forward pass computed"),
       .events = "batch_computed",
       .ofRun = [](const RunFacts& run) { return ofEngine(run, run.mostRows); }},
      {.name = "time to first token",
       .unit = Unit::Seconds,
       .meaning = forTranslation(
           "Figures", "from the moment a step could start to its first token; median over the steps"),
       .events = "step_metrics",
       .ofRun = [](const RunFacts& run) { return ofOptional(run.figures.timeToFirstToken); }},
      {.name = "final time to first token",
       .unit = Unit::Seconds,
       .meaning =
           forTranslation("Figures", "the same of the last step alone, whose answer is that of the run"),
       .events = "step_metrics",
       .ofRun = [](const RunFacts& run) -> Value {
         return run.requests.empty() ? std::nullopt : ofOptional(run.requests.back().timeToFirstToken);
       }},
      {.name = "inter-token latency",
       .unit = Unit::Seconds,
       .meaning = forTranslation("Figures",
                                 "mean time between the generated tokens of a step; median over the steps"),
       .events = "step_metrics",
       .ofRun = [](const RunFacts& run) { return ofOptional(run.figures.interTokenLatency); }},
      {.name = "whole run",
       .unit = Unit::Seconds,
       .meaning = forTranslation("Figures", "from the start of the run to its end"),
       .events = "run_started, run_finished",
       .ofRun = [](const RunFacts& run) { return ofOptional(run.figures.whole); }},
      {.name = "divergence",
       .unit = Unit::Nats,
       .meaning = forTranslation("Figures", "KL(full ‖ policy) of the next token, mean over the answer"),
       .events = "fidelity_measured",
       .ofRun =
           [](const RunFacts& run) {
             return ofFidelity(run, [](const FidelityFigures& of) { return of.meanDivergence; });
           },
       .needs = FigureNeeds::Fidelity},
      {.name = "largest divergence",
       .unit = Unit::Nats,
       .meaning = forTranslation("Figures", "the same, at the token where it is largest"),
       .events = "fidelity_measured",
       .ofRun =
           [](const RunFacts& run) {
             return ofFidelity(run, [](const FidelityFigures& of) { return of.mostDivergence; });
           },
       .needs = FigureNeeds::Fidelity},
      {.name = "agreeing tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation(
           "Figures", "places of the answer at which policy and full prefill have the same likeliest token"),
       .events = "fidelity_measured",
       .ofRun =
           [](const RunFacts& run) {
             return ofFidelity(run,
                               [](const FidelityFigures& of) { return static_cast<double>(of.agreeing); });
           },
       .needs = FigureNeeds::Fidelity},
      {.name = "compared tokens",
       .unit = Unit::Tokens,
       .meaning = forTranslation("Figures", "places of the answer that were compared with a full prefill"),
       .events = "fidelity_measured",
       .ofRun =
           [](const RunFacts& run) {
             return ofFidelity(run, [](const FidelityFigures& of) { return static_cast<double>(of.tokens); });
           },
       .needs = FigureNeeds::Fidelity},
      {.name = "same answers",
       .unit = Unit::Number,
       .meaning =
           forTranslation("Figures", "steps of which a full prefill, left to speak, says the same tokens"),
       .events = "fidelity_measured",
       .ofRun =
           [](const RunFacts& run) {
             return ofFidelity(run,
                               [](const FidelityFigures& of) { return static_cast<double>(of.sameAnswers); });
           },
       .needs = FigureNeeds::Fidelity},
      {.name = "attention deviation",
       .unit = Unit::Number,
       .meaning = forTranslation(
           "Figures",
           "how far the attention of the answer lies from a full prefill's, mean over layers, 0 to √2"),
       .events = "fidelity_measured",
       .ofRun = [](const RunFacts& run) -> Value {
         return run.fidelity ? ofOptional(run.fidelity->meanAttentionDeviation()) : std::nullopt;
       },
       .needs = FigureNeeds::Fidelity},
      {.name = "answer",
       .unit = Unit::Text,
       .meaning = forTranslation("Figures", "the text that the run answered"),
       .events = "run_finished",
       .ofRun = [](const RunFacts& run) -> Value { return run.outcome ? Value(run.answer) : std::nullopt; }},
      {.name = "policy",
       .unit = Unit::Text,
       .meaning = forTranslation("Figures", "the reuse policy of the run"),
       .events = "run_started",
       .ofRun = [](const RunFacts& run) -> Value { return run.policy; }},
      {.name = "model",
       .unit = Unit::Text,
       .meaning = forTranslation("Figures", "the model that the run was computed on"),
       .events = "session_started",
       .ofRun = [](const RunFacts& run) -> Value { return run.model; }},
      {.name = "layers",
       .unit = Unit::Number,
       .meaning = forTranslation("Figures", "layers of the model"),
       .events = "session_started",
       .ofRun = [](const RunFacts& run) { return run.layers > 0 ? count(run.layers) : std::nullopt; }},
  };
  return list;
}

/// Two to three digits that count.
std::string shortNumber(double value) {
  const double size = std::abs(value);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", size < 1 ? 2 : size < 10 ? 1 : 0, value);
  return text.data();
}

std::string wholeText(double value) {
  if (std::abs(value) < 1e15 && value == std::round(value)) return std::to_string(std::llround(value));
  return shortNumber(value);
}

/// Two digits that count, without an exponent unless it would take more than twelve places.
std::string plainNumber(double value) {
  const double size = std::abs(value);
  if (size == 0 || size >= 1 || size < 1e-11) return divergenceText(value);
  const int places = 1 - static_cast<int>(std::floor(std::log10(size)));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", places, value);
  return text.data();
}

}  // namespace

const char* unitName(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::Number:
      return "number";
    case FigureUnit::Tokens:
      return "tokens";
    case FigureUnit::Blocks:
      return "blocks";
    case FigureUnit::Seconds:
      return "ms";
    case FigureUnit::Share:
      return "%";
    case FigureUnit::Nats:
      return "nats";
    case FigureUnit::Place:
      return "block";
    case FigureUnit::Text:
      return "text";
  }
  return "";
}

std::span<const Figure> figures() {
  return table();
}

const Figure* findFigure(std::string_view name) {
  const std::vector<Figure>& list = table();
  const auto found =
      std::find_if(list.begin(), list.end(), [name](const Figure& figure) { return figure.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string durationText(double seconds) {
  if (std::abs(seconds) < 1) return shortNumber(seconds * 1000) + " ms";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f s", std::abs(seconds) < 100 ? 2 : 0, seconds);
  return text.data();
}

std::string figureText(FigureUnit unit, const FigureValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  switch (unit) {
    case FigureUnit::Seconds:
      return durationText(number);
    case FigureUnit::Share: {
      // Only a whole is 100 % and only nothing is 0 %.
      double percent = std::round(number * 100);
      if (percent >= 100 && number < 1) percent = 99;
      if (percent <= 0 && number > 0) percent = 1;
      return wholeText(percent) + "\u00A0%";
    }
    case FigureUnit::Nats:
      return plainNumber(number);
    case FigureUnit::Number:
    case FigureUnit::Tokens:
    case FigureUnit::Blocks:
    case FigureUnit::Place:
    case FigureUnit::Text:
      break;
  }
  return wholeText(number);
}

}  // namespace spanscope::trace
