// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/expression_translation.h"
#include "engine/text/stop.h"
#include "engine/text/text_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace spanscope::text {
namespace {

constexpr std::size_t kMaxExpressionBytes = 16384;
constexpr std::uint32_t kMaxNestedGroups = 64;
constexpr std::uint32_t kMatchLimit = 50'000'000;
constexpr std::uint32_t kHeapLimitKibibytes = 131072;
/// Steps that finding the words of a text may take: so many, and so many more for each of its bytes.
/// A step is one item of the expression tried or one byte passed over.
constexpr std::uint64_t kBaseSteps = 1'000'000;
constexpr std::uint64_t kStepsPerByte = 100;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freer<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>>;

/// What is left of the steps, where in the text the matcher was last seen, and whether to go on at all.
struct Budget {
  std::uint64_t left = 0;
  std::size_t position = 0;
  const std::stop_token* stop = nullptr;
};

/// Called by the library before every item of the expression.
int spend(pcre2_callout_block* block, void* data) {
  Budget& budget = *static_cast<Budget*>(data);
  const std::size_t now = block->current_position;
  const std::uint64_t steps = 1 + (now > budget.position ? now - budget.position : budget.position - now);
  budget.position = now;
  if (steps > budget.left || budget.stop->stop_requested()) return PCRE2_ERROR_CALLOUT;
  budget.left -= steps;
  return 0;
}

std::string libraryMessage(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  if (pcre2_get_error_message(code, buffer.data(), buffer.size()) < 0) return "error " + std::to_string(code);
  return toValidUtf8(reinterpret_cast<const char*>(buffer.data()));
}

class ExpressionPattern final : public TextPattern {
 public:
  explicit ExpressionPattern(Code code) : m_code(std::move(code)) {}

  void find(std::string_view text, const std::stop_token& stop, const Found& found) const override {
    Budget budget{kBaseSteps + kStepsPerByte * text.size(), 0, &stop};
    const MatchContext context(pcre2_match_context_create(nullptr));
    const MatchData data(pcre2_match_data_create_from_pattern(m_code.get(), nullptr));
    if (!context || !data) throw Failure({"", "text", "no memory for a regular expression", "more memory"});
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKibibytes);
    pcre2_set_callout(context.get(), spend, &budget);
    std::size_t position = 0;
    while (position < text.size()) {
      const std::optional<ByteRange> match = next(text, position, budget, *context, *data);
      if (!match) break;
      if (match->end > match->begin) {
        found(*match);
        position = match->end;
      } else {
        // An empty match is none; the search goes on behind the character it stands before.
        if (match->begin == text.size()) break;
        position = match->begin + nextUtf8(text.substr(match->begin)).length;
      }
    }
  }

 private:
  std::optional<ByteRange> next(std::string_view text, std::size_t from, Budget& budget,
                                pcre2_match_context& context, pcre2_match_data& data) const {
    const auto match = [&](std::uint32_t options) {
      return pcre2_match(m_code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         PCRE2_NO_UTF_CHECK | options, &data, &context);
    };
    const Budget before = budget;
    int result = match(0);
    // Machine code takes the same steps, but has a small stack. What it cannot do, the interpreter does from
    // the beginning.
    if (result < 0 && result != PCRE2_ERROR_NOMATCH && result != PCRE2_ERROR_CALLOUT) {
      budget = before;
      result = match(PCRE2_NO_JIT);
    }
    if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (result < 0) {
      throwIfStopped(*budget.stop);
      const std::string problem =
          result == PCRE2_ERROR_CALLOUT ? "it takes too many steps" : libraryMessage(result);
      throw Failure({"", "text",
                     counted(text.size(), "byte") + " on which the tokenizer's regular expression fails (" +
                         problem + ")",
                     "a text that it can be matched on"});
    }
    const PCRE2_SIZE* ranges = pcre2_get_ovector_pointer(&data);
    return ByteRange{ranges[0], ranges[1]};
  }

  Code m_code;
};

Code compile(const std::string& expression, const std::string& file, const std::string& place) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) throw Failure({file, place, "no memory for a regular expression", "more memory"});
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), kMaxNestedGroups);
  // Without the optimizations every attempt is seen by the step counter.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_AUTO_CALLOUT |
                                     PCRE2_NO_START_OPTIMIZE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), kOptions,
                          &error, &offset, context.get()));
  if (!code) {
    throw Failure({file, place, "a regular expression that is refused (" + libraryMessage(error) + ")",
                   "a regular expression"});
  }
  // Where no machine code can be made, expressions are interpreted.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

struct KnownExpression {
  std::string_view expression;
  WordPattern pattern;
};

constexpr std::array kKnown = {
    KnownExpression{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                    WordPattern::Gpt2},
    KnownExpression{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    WordPattern::Llama3},
    KnownExpression{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    WordPattern::Qwen2}};

}  // namespace

std::unique_ptr<const TextPattern> expressionPattern(const std::string& expression, const std::string& file,
                                                     const std::string& place) {
  for (const KnownExpression& known : kKnown) {
    if (known.expression == expression) return wordPattern(known.pattern);
  }
  if (expression.size() > kMaxExpressionBytes) {
    throw Failure({file, place, "a regular expression of " + std::to_string(expression.size()) + " bytes",
                   "at most " + std::to_string(kMaxExpressionBytes) + " bytes"});
  }
  TranslatedExpression translated = translateExpression(expression);
  if (translated.unsupported) {
    throw Failure({file, place, "a regular expression with " + *translated.unsupported,
                   "an expression without it: it is not supported, or not read alike everywhere"});
  }
  return std::make_unique<ExpressionPattern>(compile(translated.expression, file, place));
}

}  // namespace spanscope::text
