// SPDX-License-Identifier: GPL-3.0-or-later
// Tests measures of attention: does a measure find the documents that an answer used? The code asks generated
// questions. For correct answers, the code counts how often a measure ranks the needed documents above all
// other documents. Open this file to add a measure, or to change the questions.
//
// The questions are for the bundled model. For each question, the documents with the answer are known. Every
// second question needs two documents: a document with a name, and a document with a fact about this name.
#pragma once

#include "engine/query/query.h"
#include "engine/run/session.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max documents of a question: each document is about a different person.
inline constexpr std::int32_t kMostSources = 28;
/// Min documents: two needed documents, and one document that is not needed.
inline constexpr std::int32_t kFewestSources = 3;

struct SourceWorld {
  std::int32_t documents = 8;  ///< kFewestSources + rivals … kMostSources
  /// Number of additional documents about how two other people met. The bundled model often confuses these
  /// documents with the needed document.
  std::int32_t rivals = 0;
  std::uint64_t seed = 0;
};

struct SourceQuestion {
  std::vector<std::string> documents;
  std::string question;
  std::string answer;                ///< the correct answer of the model, word for word
  std::vector<std::int32_t> needed;  ///< indices of the one or two documents with the answer, ascending
};

/// Equal arguments give equal questions. `index`: from 0. Questions with an odd index need two documents.
SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index);

/// Returns a query: the documents under a plus, then the question. The temperature is 0.
query::Node sourceQuery(const SourceQuestion& question);

// Measures that derive the used documents of an answer from attention. Questions with known documents test
// these measures.

/// An answer, and the attention of its tokens.
struct ReadAnswer {
  std::vector<trace::SegmentInfo> segments;
  std::vector<trace::SegmentAttention> rows;  ///< by token of the answer
};

/// Returns the segments that are documents: independent segments that the answer attends to.
std::vector<std::uint32_t> documentsOf(const ReadAnswer& answer);

/// One number for each document, in the order of documentsOf(). A larger number means more use.
using Reading = std::function<std::vector<double>(const ReadAnswer&)>;

struct SourceMeasure {
  std::string name;
  std::string formula;  ///< for one document, in words
  Reading read;
};

/// Returns the measures without parameters. The first one is the measure that views show.
std::vector<SourceMeasure> sourceMeasures();

struct Head {
  std::int32_t layer = 0;
  std::int32_t head = 0;
  bool operator==(const Head&) const = default;
};
/// Returns the share of these heads' attention on each document, without attention sinks.
SourceMeasure headsMeasure(const std::vector<Head>& heads);

/// Records the attention of the last run. The measured session emits the events.
class AnswerSink final : public trace::Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;
  /// Returns the attention of the last request since the previous call. The attention can be taken once.
  ReadAnswer take();

 private:
  ReadAnswer m_answer;
  std::uint64_t m_sequence = 0;
};

struct AskedQuestion {
  std::vector<std::int32_t> needed;  ///< indices of documents
  bool isRight = false;              ///< whether the answer was correct word for word
  ReadAnswer answer;
};

/// Asks the first `questions` questions of `world` with the policy `spans`, each with an empty cache. A
/// policy without a segment per document shows nothing about documents. Throws Failure when stopped, or if a
/// run failed.
std::vector<AskedQuestion> askQuestions(run::Session& session, AnswerSink& sink, const SourceWorld& world,
                                        std::int32_t questions, std::int32_t layers,
                                        const std::stop_token& stop);

/// Number of questions that need one document, and number of those that need two.
struct SourceCount {
  std::int32_t one = 0;
  std::int32_t two = 0;
  std::int32_t both() const { return one + two; }
  bool operator==(const SourceCount&) const = default;
};
SourceCount countAsked(const std::vector<AskedQuestion>& asked);
SourceCount countRight(const std::vector<AskedQuestion>& asked);

/// Counts the correct answers whose needed documents all rank above every other document. Two documents with
/// equal values do not rank above each other.
SourceCount countFound(const std::vector<AskedQuestion>& asked, const Reading& read);

/// Returns at most `most` heads. Their summed attention finds the documents of most of these questions. The
/// best head comes first. Each next head adds the most found questions. The list ends when no head adds any.
std::vector<Head> bestHeads(const std::vector<AskedQuestion>& asked, std::size_t most);

}  // namespace spanscope::experiment
