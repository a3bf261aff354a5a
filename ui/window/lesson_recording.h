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

/// A lesson that a user makes by doing what it teaches: the recorder, its panel beside the views, and the
/// side file from which a recording is continued after the program was killed.
class LessonRecording : public QObject {
  Q_OBJECT
 public:
  explicit LessonRecording(const WindowParts& parts);
  ~LessonRecording() override;

  /// What is recorded as a lesson; nullptr: nothing is.
  LessonRecorder* recorder() const { return m_recorder.get(); }
  /// Begins a recording with the current document and an empty cache. If one is on, its panel gets the focus.
  void start();
  void takeFocus();
  /// Writes the recorded lesson and its queries, and ends the recording; saved() follows. Where the lesson
  /// cannot be written or read, the panel says so, and the recording goes on. Returns whether it ended.
  bool saveAs(const QString& path);
  /// Writes the recording into its side file. Returns false if that cannot be.
  bool keep();
  /// Keeps the recording, or else asks. Returns false if the program should not end now.
  bool mayEnd();
  /// Offers a recording that was not saved when the program ended.
  void offer();

  void setTheme(const Theme& theme);
  /// Records what is in view now.
  void see();
  /// Records a command of the window that was carried out.
  void noteCommand(const QString& command);
  /// To be called when a run is started: a lesson cannot say that a subtree is run.
  void noteStart(bool isPart) { m_ranPart = isPart; }

 Q_SIGNALS:
  void beginning();  ///< the panel takes the place of a lesson
  void saved(const QString& path);
  void changed();  ///< what the window shows of itself
  void documentOpened(spanscope::ui::OpenDocument& document);

 private:
  SeenNow seenNow();
  RunId newestRun() const;
  void recordJob(std::uint32_t tab);  ///< that a tab's work has ended
  /// Asks, if there is a recording. Returns false if it should stay.
  bool mayLose();
  void end();
  void save();
  void showRecorder();  ///< the panel of `m_recorder`, which hears what happens from then on
  void showDocuments();
  /// Goes on with a recording; null: with none. Its runs are made again, one after the other.
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
  std::uint32_t m_repeatTab = 0;  ///< in which recorded runs are made again
  std::size_t m_repeated = 0;     ///< entries of the recorder's log that were done again
  bool m_ranPart = false;         ///< the run that was started last is of a subtree
};

}  // namespace spanscope::ui
