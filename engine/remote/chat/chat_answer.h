// SPDX-License-Identifier: GPL-3.0-or-later
// What a server answers to a chat completion, streamed or not. It trusts nothing in the answer: errors come
// with status 200, texts come in place of pieces, and characters are divided between events.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/chat/server_kind.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

using trace::CachedState;

struct CachedTokens {
  CachedState state = CachedState::NotReported;
  std::int64_t tokens = 0;  ///< more than 0 if Found
  bool operator==(const CachedTokens&) const = default;
};

/// "2624", "0", "not reported", "cannot be reported"
std::string cachedText(const CachedTokens& cached);

/// The progress of a prompt, in its tokens (llama.cpp's `return_progress`).
struct PromptProgress {
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t processed = 0;  ///< those of the cache included
  bool operator==(const PromptProgress&) const = default;
};

/// One answer, as far as it came. Its parts are added with addEvent().
struct ChatAnswer {
  std::string text;
  std::string reasoning;   ///< what a server tells apart from the answer as the model's thoughts
  std::string refusal;     ///< why there is no answer, in the words of the model
  std::string calls;       ///< names of the tools that the model wants to call, which nobody offered: "f, g"
  std::string words;       ///< what the server said beside the answer; it may say why the answer has no end
  std::string noText;      ///< what came as content and is no text: "the number 42"
  bool lacksText = false;  ///< whether `noText` is of an unknown form, so that it may be a piece of the text
  std::string finish;      ///< why it ended: "stop", "length"; empty: not said
  std::string model;       ///< the server's name for it
  std::optional<std::int64_t> promptTokens;
  std::optional<std::int64_t> cachedTokens;
  std::optional<std::int64_t> generatedTokens;
  std::optional<PromptProgress> progress;  ///< the last one
  std::optional<std::int64_t> choice;      ///< index of the choice that it is; none: nothing of it came
  bool isDone = false;                     ///< "[DONE]" came, or the answer was one object
  std::string held;                        ///< bytes of a character whose other bytes are still to come
  /// Where one choice was asked for: the first that came with another index than 0, whose text may be the
  /// answer. At most one.
  std::vector<ChatAnswer> others;

  /// Also where the only choice that came has ended under another index than 0.
  bool hasEnded() const {
    return isDone || !finish.empty() || (!choice && !others.empty() && others.front().hasEnded());
  }
  /// addEvent() for a stream of one answer. Returns the piece of text that came with it.
  std::string add(std::string_view data);
};

/// What came with one event for one of several answers.
struct AnswerText {
  std::size_t answer = 0;  ///< index
  std::string piece;       ///< not empty
};

/// Adds one event of a stream of answers, each a choice of it by its index. What the server counts is of all
/// of them; the first has it. `name`: the event's, mostly empty. Keep-alives are skipped. Other words that
/// are no JSON are kept in the first answer. Throws Failure for JSON that is damaged or no chat completion
/// (or completion), for an event of another API, for an error that the server reports in it, and for a choice
/// without an answer.
std::vector<AnswerText> addEvent(std::span<ChatAnswer> answers, std::string_view data,
                                 std::string_view name = {});

/// Takes the choice of another index, where choice 0 has not come and nothing more is to come. Returns its
/// text.
std::string takeOther(ChatAnswer& answer);

/// Why an answer that has ended is none: a refusal, reasoning alone, an end by an error or a filter, blanks
/// alone, no text at all. `mayBeEmpty`: whether no text is an answer, too. Nothing: it is one.
std::optional<Error> problemOf(const ChatAnswer& answer, bool mayBeEmpty = false);

/// Whether an answer was ended by its limit of tokens, in the words of different servers.
bool isTokenLimit(std::string_view finish);

/// What the answer says of the cache, as servers of this kind say it.
CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind);
CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting);

/// The message of an error: the words in any of the forms that servers use ({"error": {"message": …}},
/// {"error": "…"}, {"message": …}, {"detail": [{"loc": …, "msg": …}]}, a list of these), the title of a page,
/// or the beginning of the text. On one line.
std::string errorMessage(std::string_view body);

}  // namespace spanscope::remote
