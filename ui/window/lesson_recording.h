// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

namespace spanscope::ui {

class LessonRecorder;
class LessonRecorderPanel;
struct OpenDocument;
class RecordingFile;
struct SeenNow;

/// Records actions of the user as a lesson. This object owns the recorder and its panel beside the views. A
/// side file keeps the recording, so that the user can continue after the program was killed.
class LessonRecording : public QObject {
  Q_OBJECT
 public:
  explicit LessonRecording(const WindowParts& parts);
  ~LessonRecording() override;

  /// The recorder of the lesson; nullptr: nothing is recorded.
  LessonRecorder* recorder() const { return m_recorder.get(); }
  /// Starts a recording with the current document and an empty cache. If a recording runs, the panel of the
  /// recording gets the focus.
  void start();
  void takeFocus();
  /// Writes the recorded lesson and its queries, ends the recording, and sends saved(). If the lesson cannot
  /// be written or read, the panel shows the error, and the recording continues. Returns whether the
  /// recording ended.
  bool saveAs(const QString& path);
  /// Writes the recording into the side file. Returns false if there is no recording, or on an error.
  bool keep();
  /// Keeps the recording in the side file. On an error, asks whether to discard the recording. Returns false
  /// if the program must not end now.
  bool mayEnd();
  /// Offers to continue a recording that was not saved when the program ended.
  void offer();

  void setTheme(const Theme& theme);
  /// Records the current state of the window.
  void see();
  /// Records a command of the window that was carried out.
  void noteCommand(const QString& command);
  /// Call this function when a run starts. A lesson cannot contain the run of a branch.
  void noteStart(bool isPart) { m_ranPart = isPart; }

 Q_SIGNALS:
  void beginning();  ///< a recording starts, and its panel replaces a lesson
  void saved(const QString& path);
  void changed();  ///< titles, tabs or commands of the window may have changed
  void documentOpened(spanscope::ui::OpenDocument& document);

 private:
  SeenNow seenNow();
  RunId newestRun() const;
  void recordJob(std::uint32_t tab);  ///< records the end of a tab's job
  /// If there is a recording, asks whether to discard the recording. Returns false if the user keeps the
  /// recording.
  bool mayLose();
  void end();
  void save();
  void showRecorder();  ///< shows the panel of `m_recorder` and connects its signals
  void showDocuments();
  /// Continues a recording and repeats its runs, one after the other.
  void continueWith(std::unique_ptr<LessonRecorder> recorder);
  void repeatRecorded();
  void recordedRunEnded(const QString& problem, std::uint32_t tab);
  void endRepeating(const QString& problem);

  QMainWindow& m_window;
  Workspace& m_workspace;
  DockHost& m_docks;
  CanvasPlaces& m_places;
  PageArea& m_pages;
  StatusLine& m_status;
  QString& m_lastFolder;
  const QString& m_autosaveDirectory;
  std::unique_ptr<LessonRecorder> m_recorder;      ///< null: nothing is recorded
  LessonRecorderPanel* m_recorderPanel = nullptr;  ///< nullptr: nothing is recorded
  RunId m_lastRecordedRun = 0;
  std::set<RunId> m_recordedFidelity;
  std::unique_ptr<RecordingFile> m_recordingFile;  ///< null: nothing is recorded
  QTimer m_keepRecording;
  std::uint32_t m_repeatTab = 0;  ///< tab in which recorded runs are repeated
  std::size_t m_repeated = 0;     ///< number of repeated entries of the recorder's log
  bool m_ranPart = false;         ///< the last started run is of a branch
};

}  // namespace spanscope::ui
