// SPDX-License-Identifier: GPL-3.0-or-later
// Where the events come from that a document shows, and what can be asked of who sends them.
#pragma once

#include "ui/session/run_record.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spanscope::ui {

/// Where the trace that is shown comes from.
enum class TraceOrigin : std::uint8_t {
  Unknown,       ///< no window is there that could ask for anything
  Session,       ///< of the engine, still open
  EndedSession,  ///< an earlier one of the engine
  File,
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;
  TraceSource() = default;
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;

  virtual TraceOrigin origin() const = 0;
  /// What it has told; never null. Where it goes on, more is appended, or another one takes its place.
  virtual std::shared_ptr<const TraceStore> trace() const = 0;
  /// Of its runs; null: the history of the window has them.
  virtual std::shared_ptr<const RunRecords> records() const { return nullptr; }
  /// Whether a document that shows it can be edited and run here, after which it shows that run.
  virtual bool takesRuns() const { return true; }
};

/// The engine's session that is open.
class LiveSource final : public TraceSource {
 public:
  TraceOrigin origin() const override { return TraceOrigin::Session; }
  std::shared_ptr<const TraceStore> trace() const override { return m_store; }

  TraceStore& store() { return *m_store; }
  /// Lets its oldest events go, so that what stays takes at most so many bytes. Returns how many have gone.
  std::size_t keepNewest(std::uint64_t bytes);

 private:
  std::shared_ptr<TraceStore> m_store = std::make_shared<TraceStore>();
};

/// One that has ended: nothing can be computed again there.
class EndedSource final : public TraceSource {
 public:
  explicit EndedSource(std::shared_ptr<const TraceStore> trace);
  TraceOrigin origin() const override { return TraceOrigin::EndedSession; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
};

/// A file that was opened, with runs of any model and program.
class FileSource final : public TraceSource {
 public:
  /// `title`: of its document.
  FileSource(std::shared_ptr<const TraceStore> trace, const QString& title);
  TraceOrigin origin() const override { return TraceOrigin::File; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  std::shared_ptr<const RunRecords> records() const override { return m_records; }
  bool takesRuns() const override { return false; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  std::shared_ptr<const RunRecords> m_records;
};

}  // namespace spanscope::ui
