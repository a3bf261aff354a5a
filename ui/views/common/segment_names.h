// SPDX-License-Identifier: GPL-3.0-or-later
// Names for the sections of a prompt, the segments of a span table and the nodes of a run. All views use
// these names.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/span_table.h"
#include "engine/trace/event.h"
#include "ui/session/prompt_parts.h"
#include "ui/session/view_input.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QRect>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

struct PartName {
  QString name;         ///< "system", "document 1", "question", or the name that the user gave the node
  std::size_t hue = 0;  ///< for Theme::segmentInk and its pattern; the same at every place of the section
  document::NodeId id = document::kNoNode;
  bool operator==(const PartName&) const = default;
};

/// The sections of a prompt with their names. A section has the name of its node in the document, or else the
/// role of the node. A document has a number that is the same in every run. A section of several nodes has
/// such a number, too. Other roles have numbers if several sections have the same role.
struct RequestParts {
  trace::PromptParts parts;
  std::vector<PartName> names;  ///< by section; empty for a hidden section

  /// The names of the sections in tokens [begin, end) of a segment: "document 1", "document 1 and document
  /// 2".
  QString nameOf(std::uint32_t segment, std::int32_t begin, std::int32_t end) const;
};
RequestParts requestParts(const ViewInput& input, RequestId request);
/// The same for a prompt of the next run.
RequestParts requestParts(const ViewInput& input, const DocumentPrediction& prediction,
                          const layout::SpanTable& table);

struct SegmentName {
  QString name;
  std::size_t hue = 0;
  bool hidden = false;  ///< no token can attend to the segment
  bool linked = false;  ///< the segment is the recomputed beginning of the next segment (policy link)
  bool operator==(const SegmentName&) const = default;
};

/// Returns one name for each segment. The name is the name of the segment's section, or of its first and last
/// section, "system to question". The recomputed beginning of a document is a segment before the document,
/// named "…, linked". If the prompt has a copy of a stored segment, the stored segment is hidden and named
/// "…, stored".
std::vector<SegmentName> segmentNames(const ViewInput& input, RequestId request);

/// The same for a prompt of the next run.
std::vector<SegmentName> segmentNames(const ViewInput& input, const DocumentPrediction& prediction,
                                      const layout::SpanTable& table);

/// The name of a node of a run: the node's name in the document, else the node's operator ("generate",
/// "user", …).
QString nodeName(const ViewInput& input, RunId run, const NodePath& path);

/// The name of a request within its run: "step 1", "step 1, copy 2". Empty if the run has only one request.
QString requestDetail(const trace::Replay& state, RequestId request);

/// "run 2". If the run has several requests, requestDetail() follows: "run 2, step 1, copy 2".
QString requestName(const trace::Replay& state, RequestId request);

// Names of the steps of a plan.

/// Names steps by the rules of stepNames(). An object makes the names of a run only once. So the object
/// must not outlive the state that the object reads.
class StepNames {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::StepNames)
 public:
  StepNames(const ViewInput& input, const trace::Progress& progress) : m_input(input), m_progress(progress) {}

  QString of(RunId run, StepIndex step);
  QString of(const trace::RequestState& request) { return of(request.run, request.step); }

 private:
  const ViewInput& m_input;
  const trace::Progress& m_progress;
  std::map<RunId, std::map<StepIndex, QString>> m_names;
};

// Shortens names to the available space. The number at the end of a name stays. Names that differ only in
// that number are all shortened in the same way, so they stay distinct.

struct NameRoom {
  QString name;
  double room = 0;  ///< pixels
};

/// Returns one text for each name, in the same order. Names that differ only in a number at their end
/// ("document 1", "document 2") form a family. The names of a family have the same form of shortForms(). If
/// several families would have only their numbers, they have no text. Any other name is cut in the middle,
/// after at least kFewestNameLetters letters. A text is empty if even its shortest form does not fit.
std::vector<QString> shortNames(const std::vector<NameRoom>& names, const QFontMetrics& metrics);

/// The forms of a row of names, from the longest to the shortest. All names of a family have the same form.
/// At most one family has only its numbers, because "1 2 1 2" would not show the families. Names without a
/// number are whole.
std::vector<std::vector<QString>> formsOfRow(const std::vector<QString>& names);

/// Shortens a single name.
QString shortName(const QString& name, double room, const QFontMetrics& metrics);

inline constexpr int kBetweenNames = 6;  ///< min space between two names, pixels

/// A bracket or a bar above a section of a prompt.
struct NamedBracket {
  QRect place;
  QString name;
  bool isCut = false;  ///< `place` is only the visible part of the bracket
};
/// The text above a bracket.
struct BracketName {
  int left = 0;
  QString text;  ///< empty: no readable text fits
};
/// Places the names above the brackets of a row between `begin` and `end`, in pixels.
///
/// Each name is near the middle of its bracket and covers at least half of it. It may extend past its bracket
/// if it keeps a gap to the next name. The name of a cut bracket stays within the bracket. All names have the
/// same form of formsOfRow(). If no form has space for all names, as many names as possible are shown.
std::vector<BracketName> bracketNames(const std::vector<NamedBracket>& brackets, int begin, int end,
                                      const QFontMetrics& metrics);

// Describes events for the user, in lists and for screen readers.

/// Describes events in plain words: "Token generated · run 2 · answer of question 3 · “Lisbon”". Steps and
/// sections of prompts have the same names as in every view. An object makes each name only once. So the
/// object becomes invalid when the trace grows. The object describes all events of the trace, including
/// events after the input's position.
class EventNames {
 public:
  explicit EventNames(const ViewInput& input);

  QString of(const trace::Event& event);

 private:
  QString stepOf(const trace::Event& event);
  QString partOf(const trace::Event& event);
  const RequestParts& partsOf(RequestId request);

  ViewInput m_input;  ///< at the end of the trace
  const trace::Replay& m_state;
  StepNames m_steps;
  std::map<RequestId, RequestParts> m_parts;
};

/// The event with its exact identifiers, as `spanq trace show` writes it, cut if it is long.
QString exactText(const trace::Event& event);

}  // namespace spanscope::ui
