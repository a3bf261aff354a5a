// SPDX-License-Identifier: GPL-3.0-or-later
// What a server answers to a chat completion, streamed or not. It trusts nothing in the answer.
#pragma once

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

/// One answer, as far as it came. Its parts are added with add().
struct ChatAnswer {
  std::string text;
  std::string reasoning;  ///< what a server tells apart from the answer as the model's thoughts
  std::string finish;     ///< why it ended: "stop", "length"; empty: not said
  std::string model;      ///< the server's name for it
  std::optional<std::int64_t> promptTokens;
  std::optional<std::int64_t> cachedTokens;
  std::optional<std::int64_t> generatedTokens;
  std::optional<PromptProgress> progress;  ///< the last one
  bool isDone = false;                     ///< "[DONE]" came, or the answer was one object

  /// Adds one event of a stream. Throws Failure for what is no chunk of a chat completion (or a completion),
  /// and for an error that the server tells in it. Returns the piece of text that came with it.
  std::string add(std::string_view data);
  /// Reads an answer that was not streamed; the same errors.
  void read(std::string_view body);
};

/// What came with one event for one of several answers.
struct AnswerText {
  std::size_t answer = 0;  ///< index
  std::string piece;       ///< not empty
};

/// The same for a stream of several answers, each a choice of it by its index: throws as ChatAnswer::add(),
/// and for a choice that there is no answer for. What the server counts is of all of them; the first has it.
std::vector<AnswerText> addEvent(std::span<ChatAnswer> answers, std::string_view data);
/// The same for several answers that were not streamed. Throws also where one is missing.
void readWhole(std::span<ChatAnswer> answers, std::string_view body);

/// What the answer says of the cache, as servers of this kind say it.
CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind);
CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting);

/// The message of an error in the form of a protocol ({"error": {"message": …}}, {"error": "…"}, {"message":
/// …},
/// {"detail": …}), or the beginning of the text. On one line.
std::string errorMessage(std::string_view body);

}  // namespace spanscope::remote
