// SPDX-License-Identifier: GPL-3.0-or-later
// The position of the window in the trace, and the events along the trace.
#pragma once

#include "ui/session/view_input.h"

#include <QDate>
#include <QString>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::ui {

// The runs of a document that the scrubber offers to show.

/// A run of the document that can be shown.
struct RunChoice {
  RunId run = 0;
  QString text;           ///< "run 3 · smollm2 · spans · 12:41"
  QString help;           ///< its differences from the shown run
  bool hasTrace = false;  ///< false: only its metrics are kept
  bool operator==(const RunChoice&) const = default;
};

/// Lists these runs. A step through a trace changes the list only if a run begins there. So a new list is
/// made only if its sources have changed.
class RunChoices {
 public:
  void follow(const ViewInput& input);
  /// The document's newest run that has started at or before the position; 0: none.
  RunId shown() const { return m_shown; }
  /// The runs, the newest first. A long list has only the newest runs and the shown one.
  const std::vector<RunChoice>& all() const { return m_all; }

 private:
  struct Source {
    std::shared_ptr<const RunRecords> records;
    std::shared_ptr<const TraceStore> trace;
    std::size_t events = 0;  ///< events of the trace and of the records' traces; grows while runs go on
    std::size_t begun = 0;   ///< runs of the trace that have started at or before the position
    std::string model;
    std::vector<RunId> own;
    QDate today;  ///< labels of runs from other days have the date
    bool operator==(const Source&) const = default;
  };
  static Source sourceOf(const ViewInput& input);
  void list(const ViewInput& input);

  std::optional<Source> m_source;
  RunId m_shown = 0;
  std::vector<RunChoice> m_all;
};

enum class TickKind : std::uint8_t {
  Computed,
  Relocated,
  Hit,
  Token,
  Other  ///< any of these, of a run of another document
};
inline constexpr std::size_t kTickKinds = 5;

/// The number of events in a range of the trace, by kind.
struct TickBin {
  std::array<std::uint32_t, kTickKinds> counts{};
  bool operator==(const TickBin&) const = default;
};

/// Counts the events of a trace by kind, in bins of equal numbers of events. An update takes time only for
/// the new events. If there are more than kMostBins bins, every two become one.
class TickBins {
 public:
  static constexpr std::size_t kMostBins = 4096;

  /// `own`: the runs of the document. If the trace has no run of the document, all runs count as own runs.
  void follow(const std::shared_ptr<const TraceStore>& trace, const std::set<RunId>& own = {});
  const std::vector<TickBin>& bins() const { return m_bins; }
  std::size_t eventsPerBin() const { return m_eventsPerBin; }

 private:
  std::optional<TickKind> kindOf(const trace::Event& event) const;
  bool isOwn(RunId run) const;
  bool isOwnRequest(RequestId id) const;

  std::shared_ptr<const TraceStore> m_trace;
  std::set<RunId> m_own;  ///< own runs in the trace; empty: all runs are own
  std::size_t m_read = 0;
  std::size_t m_eventsPerBin = 1;
  std::vector<TickBin> m_bins;
};

struct RunLabel {
  RunId run = 0;
  std::size_t index = 0;  ///< index of the run's RunStarted event
  bool operator==(const RunLabel&) const = default;
};

struct ScrubberModel {
  std::size_t position = 0;
  std::size_t total = 0;
  std::vector<TickBin> bins;
  std::size_t eventsPerBin = 1;
  std::vector<RunLabel> runs;
  QString label;  ///< "event 71 of 96 · 3.1 ms"
  QString event;  ///< the last event that has happened, in plain words
  QString exact;  ///< the same event with its exact identifiers
  RunId run = 0;  ///< the document's newest run that has started at or before the position; 0: none
  std::vector<RunChoice> choices;  ///< see RunChoices::all()
  bool operator==(const ScrubberModel&) const = default;
};

ScrubberModel scrubberModel(const ViewInput& input);
/// The same, with bins and choices that the caller keeps between inputs.
ScrubberModel scrubberModel(const ViewInput& input, TickBins& bins, RunChoices& choices);
QString tickName(TickKind kind);

}  // namespace spanscope::ui
