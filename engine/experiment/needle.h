// SPDX-License-Identifier: GPL-3.0-or-later
// The needle experiment, after the haystack benchmark of IBM/spnl. Every document names one cat and continues
// with meaningless words. The model lists all names from all documents in one step. With attention locality,
// the model lists the names of each group of k documents and then combines the lists. Missing names are
// classified by the step that lost them. Open this file to change the experiment.
#pragma once

#include "engine/experiment/pause_hook.h"
#include "engine/experiment/statistics.h"
#include "engine/plan/plan.h"
#include "engine/policy/policies.h"
#include "engine/query/query.h"
#include "engine/run/session.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max documents: a name occurs only once in a trial.
inline constexpr std::int32_t kMostNeedles = 40;

struct NeedleOptions {
  std::int32_t documents = 8;                                              ///< 2 … kMostNeedles
  std::vector<std::int32_t> hayWords = {0, 10, 20, 40, 60, 80, 100, 120};  ///< min number of words in each
                                                                           ///< document
  std::vector<std::int32_t> portions = {0, 2, 4};  ///< k, number of documents that are read together; 0: all
  std::int32_t trials = 50;
  double goodShare = 0.75;  ///< a run is good if recall and precision are both at least this
  std::uint64_t seed = 0;   ///< of names and words; the same for every k
  policy::Choice policy{};
  layout::Layout layout = layout::Layout::Exact;
  PauseHook seam{};  ///< called before each trial
};

/// The reason why a name is not in the answer.
enum class MissCause {
  Missed,           ///< the model read the whole document and did not give the name
  LostCombining,    ///< the group's list has the name, the combined list does not
  AnswerTruncated,  ///< the token limit ended the answer that should contain the name
  NotRun,           ///< the run failed, e.g. because the prompt did not fit; no prompt is truncated
};
/// Returns the name of a cause for the user.
const char* missCauseName(MissCause cause);

struct NeedleMiss {
  std::int32_t trial = 0;
  std::int32_t document = 0;  ///< index of the document in the prompt
  std::string name;
  MissCause cause = MissCause::Missed;
};

/// All trials of one number of words and one k.
struct NeedleRow {
  std::int32_t hayWords = 0;
  std::int32_t portion = 0;  ///< k; 0: all documents together
  std::int32_t trials = 0;
  std::int32_t good = 0;                    ///< runs with good recall and precision
  std::int64_t found = 0;                   ///< number of found names, of trials × documents
  std::int64_t invented = 0;                ///< names in answers that no document has, and repeated names
  std::vector<std::int32_t> foundAt;        ///< by the document's index: trials that found its name
  std::vector<NeedleMiss> misses;           ///< all misses, by trial and document
  std::int64_t longestPrompt = 0;           ///< tokens of one generate node; 0 if no node ran
  Summary seconds;                          ///< of a whole run from an empty cache, without failed runs
  std::optional<std::string> firstFailure;  ///< the reason of the first failed run

  std::int64_t missesBy(MissCause cause) const;
};

/// Returns the name of a way to read the documents, for the user: "k = 2". `portion`: as in NeedleRow.
std::string groupName(std::int32_t portion);

struct NeedleDocument {
  std::string name;
  std::string text;
};

/// Returns the documents of a trial. Equal arguments give equal documents.
std::vector<NeedleDocument> needleDocuments(const NeedleOptions& options, std::int32_t hayWords,
                                            std::int32_t trial);

/// Returns the query over the documents, before attention locality.
query::Node needleQuery(const std::vector<NeedleDocument>& documents);

/// Returns the plan of the query over the documents, in groups of `portion` documents. 0: all documents
/// together. Throws Failure.
plan::Plan needlePlan(const std::vector<NeedleDocument>& documents, std::int32_t portion);

/// Returns the names that an answer lists: every text in double quotes.
std::vector<std::string> listedNames(const std::string& answer);

/// Runs all trials of one row. Empties the session's cache before each trial. Throws Failure when stopped.
NeedleRow measureNeedle(run::Session& session, const NeedleOptions& options, std::int32_t hayWords,
                        std::int32_t portion, const std::stop_token& stop);

}  // namespace spanscope::experiment
