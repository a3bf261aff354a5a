// SPDX-License-Identifier: GPL-3.0-or-later
// Passes the answer of a run to a client, with stop texts and counts. Open this file to change how answers
// are split into pieces.
//
// Errors in the form of OpenAI's API: {"error": {"message", "type", "param", "code"}}. Open this file to add
// an error of the server.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/remote/server/engine.h"
#include "engine/trace/event.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::server {

/// Ends an answer at the beginning of a stop text. Text that may be the beginning of a stop text waits for
/// the next text.
class StopTexts {
 public:
  /// No text of `texts` is empty.
  explicit StopTexts(std::vector<std::string> texts) : m_texts(std::move(texts)) {}

  /// Adds `text` and returns the text that certainly belongs to the answer. After a stop text, the result is
  /// empty.
  std::string push(std::string_view text);
  /// Returns the waiting text. Call this when the answer has ended without a stop text.
  std::string finish();
  bool hasStopped() const { return m_hasStopped; }

 private:
  std::vector<std::string> m_texts;
  std::string m_held;
  bool m_hasStopped = false;
};

enum class FinishReason : std::uint8_t { Stop, Length };
const char* nameOf(FinishReason reason);  ///< "stop", "length"

struct DrawnToken {
  TokenId id = 0;
  float probability = 0;  ///< before temperature and filters
  /// The most likely tokens at this place, most likely first, up to the requested number.
  std::vector<trace::TokenAlternative> alternatives{};
};

/// The next piece of one choice of an answer.
struct AnswerPiece {
  std::size_t choice = 0;
  std::string text;                   ///< well-formed UTF-8; may be empty
  std::optional<DrawnToken> token{};  ///< the token of this piece; nothing for text after the last token
  std::optional<FinishReason> finished{};
};

/// Counts of a whole answer. A prompt with several answers counts once.
struct AnswerUsage {
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  std::int64_t completionTokens = 0;
};

/// Passes the answers of a run from the engine's thread to the one thread that answers the client. A choice
/// is a generate node among the items of the plan's result, in the order of the items.
class Answer final : public RunListener {
 public:
  /// `stops` end an answer that has more than `minTokens` tokens. `choicesPerPrompt` consecutive choices
  /// share a prompt.
  Answer(const plan::Plan& plan, const std::vector<std::string>& stops, std::size_t choicesPerPrompt,
         std::int32_t minTokens = 0);

  void onEvent(const trace::Event& event) override;
  void onEnd(const RunEnd& end) override;

  std::size_t choices() const { return m_choices.size(); }

  struct News {
    std::vector<AnswerPiece> pieces;  ///< in the order of arrival
    bool isComplete = false;          ///< every choice has finished
    std::optional<RunEnd> end;        ///< the run has ended
  };
  /// Waits until a new piece or the end has arrived, but at most `most`.
  News wait(std::chrono::milliseconds most);
  /// Returns the counts so far. The counts are complete when the run has ended or every choice has finished.
  AnswerUsage usage() const;

 private:
  struct Choice {
    explicit Choice(const std::vector<std::string>& stops) : stopTexts(stops) {}

    StopTexts stopTexts;
    std::size_t bytes = 0;                                ///< bytes of text that the engine has generated
    std::vector<trace::TokenAlternative> alternatives{};  ///< alternatives to the next token
    bool isFinished = false;
    std::int64_t tokens = 0;
    std::int64_t promptTokens = 0;
    std::int64_t cachedTokens = 0;
  };

  void take(Choice& choice, std::size_t index, const trace::TokenGenerated& token);
  void take(Choice& choice, std::size_t index, const trace::StepFinished& step);
  void finish(Choice& choice);

  const std::size_t m_choicesPerPrompt;
  const std::int32_t m_minTokens;
  std::map<StepIndex, std::size_t> m_choiceOfStep;
  mutable std::mutex m_mutex;  ///< guards all members below
  std::condition_variable m_changed;
  std::map<RequestId, std::size_t> m_choiceOfRequest;
  std::vector<Choice> m_choices;
  std::vector<AnswerPiece> m_pieces;  ///< not taken yet
  std::size_t m_finished = 0;
  std::optional<RunEnd> m_end;
};

struct ApiError {
  int status = 400;     ///< HTTP status
  std::string message;  ///< a sentence for the user
  std::string type = "invalid_request_error";
  std::string param{};  ///< the wrong field; empty: null
  std::string code{};   ///< a word for programs; empty: null
};

/// Returns the JSON of an error on one line.
std::string errorJson(const ApiError& error);

/// Returns 503: this machine lacks memory for a request.
ApiError outOfMemory();
/// Returns 413: a body of more than `most` bytes.
ApiError bodyTooLarge(std::size_t most);
/// Returns 503: the server is ending.
ApiError serverIsEnding();

/// An exception that refuses a request.
class ApiFailure : public std::exception {
 public:
  explicit ApiFailure(ApiError error) : m_error(std::move(error)) {}
  const ApiError& error() const { return m_error; }
  const char* what() const noexcept override { return m_error.message.c_str(); }

 private:
  ApiError m_error;
};

/// Throws ApiFailure for a wrong field of the body.
[[noreturn]] void refuseField(std::string param, std::string message, std::string code = {});

}  // namespace spanscope::server
