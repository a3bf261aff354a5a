// SPDX-License-Identifier: GPL-3.0-or-later
// Diagnoses a log: what each request reused, what it could have reused, and the causes of the loss. Open this
// file first when you work on the doctor.
#pragma once

#include "engine/doctor/causes.h"
#include "engine/doctor/log_reader.h"
#include "engine/doctor/prompt_tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::doctor {

struct DoctorOptions {
  std::string server{};              ///< a name of simulator::servers(); empty: of the log, or else vLLM
  std::int64_t blocks = 0;           ///< size of the pool; 0: of the log, or else without limit
  std::int32_t blockSize = 0;        ///< 0: of the log, or else the server's default
  std::int32_t slots = 0;            ///< of llama-server; 0: the default
  std::optional<double> timeToLive;  ///< seconds
  std::size_t repeatTokens = 64;     ///< min length of a repeat
  bool showsEdits = true;            ///< whether the log is also computed with edits
  std::function<void(const LoggedRequest&)>
      takeEdited{};  ///< gets each request after the edits; may be empty
};

/// A finding about a request, with the name of its section.
struct NamedFinding {
  Finding finding;
  std::string section;
};

struct RequestReport {
  LogPlace place;
  std::optional<std::int64_t> time;
  bool isConcurrent = false;               ///< another request ran on the server at the same time
  std::string model;                       ///< without secrets
  std::string sessionId;                   ///< as in the log, without secrets; may be empty
  std::string upstream{};                  ///< the server that the log names, without secrets; may be empty
  std::uint32_t conversation = 0;          ///< number, from 0
  std::size_t prompt = 0;                  ///< tokens
  std::size_t cached = 0;                  ///< by the rules of the server; more if the server reported more
  std::optional<std::int64_t> reported{};  ///< cached tokens that the server reported
  std::optional<std::int64_t> reportedPrompt{};  ///< prompt tokens that the server reported
  std::size_t common = 0;                        ///< common prefix with the best earlier request
  std::optional<std::uint32_t> best{};           ///< the best earlier request, by its number
  std::optional<std::uint32_t> compared{};       ///< the earlier request that the findings compare
  std::size_t commonCompared = 0;                ///< common prefix with `compared`
  std::string differenceSection{};       ///< section of the first differing token; empty: nothing differs
  std::vector<NamedFinding> findings{};  ///< the cause of the first difference comes first
  std::size_t lost = 0;                  ///< tokens that were computed and could have been cached
  std::size_t repeated = 0;              ///< tokens after the common prefix that earlier requests have
  std::string failure{};                 ///< why the prompt cannot be tokenized; empty: no failure
  std::string refusal{};  ///< why the server did not compute the request: "status 400: …"; empty: no reason.
                          ///< Such a request has no tokens and no findings.

  std::size_t computed() const { return prompt - cached; }
  /// A loss that the server reported is not part of `cached`.
  std::size_t couldBeCached() const { return std::min(prompt, cached + lost); }
};

/// How much a way changes the predictions of a model for one request. The model answers the prompt of the log
/// after a full prefill, greedily. Then the model predicts the tokens of this answer after the prompt of the
/// way.
struct RequestQuality {
  std::uint32_t request = 0;  ///< its number in the report
  double divergence = 0;      ///< KL(prompt of the log ‖ this way), the mean over the tokens, in nats
  std::int64_t tokens = 0;
  std::int64_t agreeing = 0;  ///< tokens with the same most likely token
  bool operator==(const RequestQuality&) const = default;
};

/// The same for the sample of a way (engine/doctor/quality.h).
struct WayQuality {
  std::vector<RequestQuality> requests;  ///< not empty

  double divergence() const;  ///< the mean over the requests
  double agreement() const;   ///< share of tokens with the same most likely token
};

/// One way to send the whole log, and its tokens.
struct Way {
  const char* key;   ///< "as_is"
  const char* name;  ///< for the user
  std::uint64_t prompt = 0;
  std::uint64_t computed = 0;
  std::optional<WayQuality> quality{};  ///< nothing: not measured
};

struct CauseTotal {
  CauseId cause = CauseId::Unknown;
  std::size_t requests = 0;  ///< with this main cause
  std::uint64_t lost = 0;
};

struct LogReport {
  std::vector<std::string> files;
  std::string server;     ///< "vLLM 0.33.0, blocks of 16 tokens"
  std::size_t block = 1;  ///< tokens of a block
  std::string tokens;     ///< PromptTokenizer::setting()
  bool isEstimated = false;
  std::vector<RequestReport> requests;
  std::vector<LogProblem> problems;
  std::size_t problemCount = 0;  ///< all problems; `problems` has only the first of them
  std::size_t conversations = 0;
  std::size_t refused = 0;  ///< requests that the server did not compute
  std::uint64_t prompt = 0;
  std::uint64_t cached = 0;
  std::uint64_t lost = 0;
  std::vector<CauseTotal> causes;  ///< the most lost tokens first
  std::vector<Way> ways;
  std::string qualityModel{};  ///< the model that measured the quality of the ways; empty: not measured
  bool isStopped = false;

  /// The lost tokens as a share of all prompt tokens.
  double lostShare() const {
    return prompt == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(prompt);
  }
};

/// A diagnosis reads the log up to three times.
enum class DoctorPhase : std::uint8_t { Log, Edits, Documents };

/// Called after each request of a phase, on the thread of the diagnosis. `soFar` has the requests that were
/// read, without totals. The lost tokens are complete only after the last phase. `requests`: number of
/// requests of the phase so far.
using DoctorProgress = std::function<void(const LogReport& soFar, DoctorPhase phase, std::size_t requests)>;

/// Reads the log and diagnoses each request. Memory grows with the distinct tokens of the log, four bytes
/// each, and not with the texts. Returns early after a stop request. Throws Failure if a file cannot be read,
/// or if the server refuses the options.
LogReport diagnose(const LogReader& log, const PromptTokenizer& tokenizer, const DoctorOptions& options,
                   const std::stop_token& stop = {}, const DoctorProgress& progress = {});

}  // namespace spanscope::doctor
