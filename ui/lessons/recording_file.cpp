// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/recording_file.h"

#include "engine/base/output_file.h"
#include "engine/workbench/document/document_text.h"
#include "ui/document/autosave.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLockFile>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr auto kRecordingSuffix = ".lesson-autosave";
constexpr qint64 kMostRecording = qint64{64} << 20;  // bytes
constexpr std::size_t kMostSteps = 1000;             // far above the max number of steps of a lesson

QString qtText(const std::string& words) {
  return QString::fromStdString(words);
}

std::string stringAt(const QJsonObject& object, const char* key) {
  return object.value(QLatin1String(key)).toString().toStdString();
}

const char* kindName(const std::optional<lesson::Question::Kind>& kind) {
  if (!kind) return "";
  switch (*kind) {
    case lesson::Question::Kind::Number:
      return "number";
    case lesson::Question::Kind::Choice:
      return "choice";
    case lesson::Question::Kind::Block:
      return "block";
  }
  return "";
}

QJsonObject stepObject(const lesson::RecordedStep& step) {
  QJsonArray choices;
  for (const lesson::RecordedChoice& choice : step.question.choices)
    choices.append(QJsonArray{qtText(choice.text), qtText(choice.isRight)});
  QJsonArray actions;
  for (const lesson::Action& action : step.actions) actions.append(qtText(lesson::written(action)));
  return {{QLatin1String("title"), qtText(step.title)},
          {QLatin1String("text"), qtText(step.text)},
          {QLatin1String("kind"), QLatin1String(kindName(step.question.kind))},
          {QLatin1String("question"), qtText(step.question.text)},
          {QLatin1String("answer"), qtText(step.question.answer)},
          {QLatin1String("choices"), choices},
          {QLatin1String("actions"), actions},
          {QLatin1String("after"), qtText(step.after)},
          {QLatin1String("holds"), qtText(step.holds)}};
}

std::optional<lesson::RecordedStep> readStep(const QJsonObject& object) {
  lesson::RecordedStep step;
  step.title = stringAt(object, "title");
  step.text = stringAt(object, "text");
  const std::string kind = stringAt(object, "kind");
  for (const auto one :
       {lesson::Question::Kind::Number, lesson::Question::Kind::Choice, lesson::Question::Kind::Block}) {
    if (kind == kindName(one)) step.question.kind = one;
  }
  step.question.text = stringAt(object, "question");
  step.question.answer = stringAt(object, "answer");
  for (const QJsonValue& value : object.value(QLatin1String("choices")).toArray()) {
    const QJsonArray choice = value.toArray();
    step.question.choices.push_back(
        {choice.at(0).toString().toStdString(), choice.at(1).toString().toStdString()});
  }
  for (const QJsonValue& value : object.value(QLatin1String("actions")).toArray()) {
    std::vector<lesson::Fault> faults;
    std::optional<lesson::Action> action = lesson::readAction(value.toString().toStdString(), 0, faults);
    if (!action) return std::nullopt;
    step.actions.push_back(std::move(*action));
  }
  step.after = stringAt(object, "after");
  step.holds = stringAt(object, "holds");
  return step;
}

std::shared_ptr<const document::Document> readKept(const QJsonValue& value) {
  document::OpenedDocument opened = document::readDocument(value.toString().toStdString());
  if (!opened.document) return nullptr;
  return std::make_shared<const document::Document>(std::move(*opened.document));
}

}  // namespace

QByteArray writeRecording(const SavedRecording& recording) {
  QJsonArray settings;
  for (const lesson::Assignment& setting : recording.settings)
    settings.append(QJsonArray{qtText(setting.key), qtText(setting.value)});
  QJsonArray steps;
  for (const lesson::RecordedStep& step : recording.steps) steps.append(stepObject(step));
  QJsonArray queries;
  for (const RecordedQuery& query : recording.queries)
    queries.append(QJsonArray{qtText(query.name), qtText(document::writeDocument(query.document))});
  QJsonArray ran;
  for (const auto& document : recording.ran) ran.append(qtText(document::writeDocument(*document)));
  const QJsonObject object{{QLatin1String("recording"), 1},
                           {QLatin1String("title"), qtText(recording.head.title)},
                           {QLatin1String("minutes"), static_cast<int>(recording.head.minutes)},
                           {QLatin1String("after"), qtText(recording.head.after)},
                           {QLatin1String("model"), qtText(recording.model)},
                           {QLatin1String("settings"), settings},
                           {QLatin1String("steps"), steps},
                           {QLatin1String("step"), static_cast<int>(recording.step)},
                           {QLatin1String("queries"), queries},
                           {QLatin1String("ran"), ran},
                           {QLatin1String("document"), qtText(document::writeDocument(*recording.document))},
                           {QLatin1String("tab"), recording.title},
                           {QLatin1String("beside"), recording.beside},
                           {QLatin1String("layout"), qtText(recording.layout)}};
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<SavedRecording> readRecording(const QByteArray& bytes) {
  const QJsonObject object = QJsonDocument::fromJson(bytes).object();
  if (object.value(QLatin1String("recording")).toInt() != 1) return std::nullopt;
  SavedRecording recording;
  recording.head.title = stringAt(object, "title");
  recording.head.minutes = object.value(QLatin1String("minutes")).toInt(10);
  recording.head.after = stringAt(object, "after");
  recording.model = stringAt(object, "model");
  for (const QJsonValue& value : object.value(QLatin1String("settings")).toArray()) {
    const QJsonArray setting = value.toArray();
    recording.settings.push_back(
        {setting.at(0).toString().toStdString(), setting.at(1).toString().toStdString()});
  }
  std::size_t runs = 0;
  for (const QJsonValue& value : object.value(QLatin1String("steps")).toArray()) {
    std::optional<lesson::RecordedStep> step = readStep(value.toObject());
    if (!step || recording.steps.size() == kMostSteps) return std::nullopt;
    for (const lesson::Action& action : step->actions)
      runs += action.kind == lesson::ActionKind::Run ? std::size_t{1} : std::size_t{0};
    recording.steps.push_back(std::move(*step));
  }
  for (const QJsonValue& value : object.value(QLatin1String("queries")).toArray()) {
    const QJsonArray query = value.toArray();
    const std::shared_ptr<const document::Document> document = readKept(query.at(1));
    if (document == nullptr) return std::nullopt;
    recording.queries.push_back({query.at(0).toString().toStdString(), *document});
  }
  for (const QJsonValue& value : object.value(QLatin1String("ran")).toArray()) {
    recording.ran.push_back(readKept(value));
    if (recording.ran.back() == nullptr) return std::nullopt;
  }
  recording.document = readKept(object.value(QLatin1String("document")));
  const int step = object.value(QLatin1String("step")).toInt();
  const bool isWhole = recording.document != nullptr && !recording.steps.empty() && step >= 0 &&
                       static_cast<std::size_t>(step) < recording.steps.size() &&
                       recording.ran.size() == runs;
  if (!isWhole) return std::nullopt;
  recording.step = static_cast<std::size_t>(step);
  recording.title = object.value(QLatin1String("tab")).toString();
  recording.beside = object.value(QLatin1String("beside")).toString();
  recording.layout = stringAt(object, "layout");
  return recording;
}

RecordingFile::RecordingFile(QString directory) : m_directory(std::move(directory)) {}

RecordingFile::~RecordingFile() = default;

bool RecordingFile::write(const QByteArray& recording) {
  if (m_path.isEmpty()) {
    if (!QDir().mkpath(m_directory)) return false;
    const QString path = m_directory + QLatin1Char('/') + QUuid::createUuid().toString(QUuid::WithoutBraces) +
                         QLatin1String(kRecordingSuffix);
    m_lock = lockSideFile(path);
    if (m_lock == nullptr) return false;
    m_path = path;
  }
  return !writeFile(m_path.toStdString(),
                    {recording.constData(), static_cast<std::size_t>(recording.size())});
}

void RecordingFile::discard() {
  if (!m_path.isEmpty()) QFile::remove(m_path);
  m_path.clear();
  m_lock.reset();
}

std::vector<RecordingFile::Found> RecordingFile::found(const QString& directory) {
  std::vector<Found> all;
  const QStringList names =
      QDir(directory).entryList({QLatin1Char('*') + QLatin1String(kRecordingSuffix)}, QDir::Files);
  for (const QString& name : names) {
    const QString path = directory + QLatin1Char('/') + name;
    const std::unique_ptr<QLockFile> lock = lockSideFile(path);
    QFile file(path);
    if (lock == nullptr || !file.open(QIODevice::ReadOnly) || file.size() > kMostRecording) continue;
    all.push_back({path, QFileInfo(path).lastModified(), file.readAll()});
  }
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.time > b.time; });
  return all;
}

}  // namespace spanscope::ui
