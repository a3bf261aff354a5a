// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/document_file.h"

#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/query/files/file_access.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/run_options.h"
#include "ui/words/tr.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QStorageInfo>
#include <QXmlStreamReader>
#include <QXmlStreamWriter>
#include <QtEndian>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

namespace spanscope::ui {

namespace {

OpenedFile refused(std::string found, std::string expected) {
  OpenedFile opened;
  opened.diagnostics.push_back({.severity = Severity::Error,
                                .pointer = {},
                                .position = {},
                                .offset = 0,
                                .found = std::move(found),
                                .expected = std::move(expected),
                                .hint = {}});
  return opened;
}

/// The text of the query alone. A missing input becomes an empty seq.
std::string queryText(const document::Document& document, query::QueryForm form) {
  if (document.root() == document::kNoNode) {
    return query::writeQuery({query::Join{.kind = query::JoinKind::Seq, .children = {}}}, form);
  }
  return query::writeQuery(document::toTree(document, document.root()), form);
}

std::optional<query::QueryForm> queryFormOfPath(const QString& path) {
  const auto endsWith = [&path](const char* end) {
    return path.endsWith(QLatin1String(end), Qt::CaseInsensitive);
  };
  if (endsWith(".json")) return query::QueryForm::Json;
  if (endsWith(".yaml") || endsWith(".yml")) return query::QueryForm::Yaml;
  if (endsWith(".lisp") || endsWith(".spnl")) return query::QueryForm::Lisp;
  return std::nullopt;
}

/// The folder of a query that is being opened. The user cannot answer questions of the query at this time.
class Folder final : public query::Surroundings {
 public:
  explicit Folder(const QString& path) : m_files(QFileInfo(path).absolutePath().toStdString()) {}

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    return m_files.read(path);
  }
  std::variant<std::string, query::NotGiven> ask(const std::string& /*prompt*/) override {
    return query::NotGiven{.found = "a question inside a text",
                           .expected = "a separate question node",
                           .hint = "the window cannot ask questions inside a text"};
  }

 private:
  query::FileAccess m_files;
};

/// Removes the warning that a chat is read as a query. No other warning is about the whole chat.
void removeFormWarning(std::string_view text, std::vector<query::Diagnostic>& diagnostics) {
  std::erase_if(diagnostics, [begin = text.find_first_of("[{")](const query::Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::Warning && diagnostic.pointer.empty() &&
           diagnostic.offset == begin;
  });
}

/// The nodes of the messages, if the query is a list of messages. Nothing for another query.
std::optional<std::vector<document::NodeId>> messageNodes(const document::Document& document,
                                                          query::ChatForm form) {
  const document::DocumentNode* list = document.find(document.root());
  if (list != nullptr && form == query::ChatForm::Request)
    list = list->children.empty() ? nullptr : document.find(list->children.front());
  if (list == nullptr || list->own.as<query::Join>() == nullptr) return std::nullopt;
  return list->children;
}

/// Describes a file whose text was read as a query.
std::shared_ptr<const QueryFile> queryFile(std::string_view text, query::QueryForm form, const QString& path,
                                           document::OpenedDocument& opened) {
  QueryFile file;
  file.path = QFileInfo(path).absoluteFilePath();
  file.form = form;
  if (form == query::QueryForm::Json) file.chat = query::chatFormOf(text);
  if (file.chat != query::ChatForm::None) {
    const document::Document& document = *opened.document;
    const query::GenerateSettings* settings = query::settingsOf(document.at(document.root()).own);
    // If the request has no temperature, the query runs with another temperature. Then the warning stays.
    if (settings == nullptr || !std::holds_alternative<query::Absent>(settings->temperature))
      removeFormWarning(text, opened.diagnostics);
    file.text = text;
    if (auto nodes = messageNodes(document, file.chat)) file.nodes = std::move(*nodes);
  }
  return std::make_shared<const QueryFile>(std::move(file));
}

document::OpenedDocument readQueryText(std::string_view text, query::QueryForm form, const QString& path) {
  Folder folder(path);
  query::ParseResult parsed = query::parseQuery(text, form, {}, &folder);
  document::OpenedDocument opened;
  opened.diagnostics = std::move(parsed.diagnostics);
  opened.plainQuery = true;
  if (parsed.query) opened.document = document::fromQuery(*parsed.query);
  return opened;
}

OpenedFile readText(std::string_view text, const QString& path) {
  const query::QueryForm form = query::queryFormOf(path.toStdString(), text);
  if (form != query::QueryForm::Json) {
    OpenedFile opened{readQueryText(text, form, path)};
    if (!opened.document) return opened;
    for (query::Diagnostic& part : query::unkeptParts(text, form))
      opened.diagnostics.push_back(std::move(part));
    std::stable_sort(opened.diagnostics.begin(), opened.diagnostics.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
    opened.file = queryFile(text, form, path, opened);
    return opened;
  }
  OpenedFile opened{document::readDocument(text)};
  if (opened.document && opened.plainQuery) opened.file = queryFile(text, form, path, opened);
  return opened;
}

}  // namespace

OpenedFile openDocument(const QString& path) {
  // Opening a pipe would block the window until another program writes into the pipe.
  const QFileInfo info(path);
  if (info.isDir()) return refused("a folder", "a file");
  if (info.exists() && !info.isFile()) return refused("a pipe or a device", "a file");
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    return refused("The system reports: " + file.errorString().toStdString() + ".",
                   "a file that can be read");
  }
  constexpr auto kMostBytes = static_cast<qint64>(query::ParseLimits{}.maxBytes);
  // One byte above the limit shows that the file is too large, even if it grows during the read.
  const QByteArray bytes = file.read(kMostBytes + 1);
  if (file.error() != QFileDevice::NoError) {
    return refused("The system reports: " + file.errorString().toStdString() + ".",
                   "a file that can be read");
  }
  if (bytes.size() > kMostBytes) {
    return refused("more than " + std::to_string(kMostBytes) + " bytes",
                   "a file of at most " + std::to_string(kMostBytes) + " bytes");
  }
  if (isPicturePath(path) || isPicture(bytes)) {
    const std::variant<std::string, Error> text = documentOfPicture(bytes);
    if (const auto* error = std::get_if<Error>(&text)) return refused(error->found, error->expected);
    return {document::readDocument(std::get<std::string>(text))};
  }
  return readText(inUtf8(bytes.toStdString()), path);
}

std::optional<Error> saveDocument(const QString& path, const document::Document& document,
                                  const QueryFile* opened) {
  if (isPicturePath(path)) {
    return Error{path.toStdString(),
                 {},
                 "This name is the name of a picture.",
                 "Choose a name that ends in .span, .json, .yaml or .lisp. To get a picture, export a view."};
  }
  const std::optional<query::QueryForm> form = savedForm(path, opened);
  std::optional<query::RewrittenChat> kept = chatText(path, document, opened);
  const std::string text = kept   ? std::move(kept->text)
                           : form ? queryText(document, *form)
                                  : document::writeDocument(document);
  // A text that cannot be opened again must not replace a file that can.
  for (const query::Diagnostic& diagnostic : readText(text, path).diagnostics) {
    if (diagnostic.severity != Severity::Error) continue;
    return Error{path.toStdString(), diagnostic.pointer, diagnostic.found, diagnostic.expected};
  }
  return writeFile(path.toStdString(), text);
}

bool takeChatList(std::string_view text, std::vector<query::Diagnostic>& diagnostics) {
  if (query::chatFormOf(text) != query::ChatForm::Messages) return false;
  removeFormWarning(text, diagnostics);
  return true;
}

std::optional<query::QueryForm> savedForm(const QString& path, const QueryFile* opened) {
  if (const auto form = queryFormOfPath(path)) return form;
  if (opened == nullptr || path.endsWith(QLatin1String(".span"), Qt::CaseInsensitive)) return std::nullopt;
  return QFileInfo(path).absoluteFilePath() == opened->path ? std::optional(opened->form) : std::nullopt;
}

std::optional<query::RewrittenChat> chatText(const QString& path, const document::Document& document,
                                             const QueryFile* opened) {
  if (opened == nullptr || opened->chat == query::ChatForm::None) return std::nullopt;
  if (savedForm(path, opened) != query::QueryForm::Json) return std::nullopt;
  const auto nodes = messageNodes(document, opened->chat);
  if (!nodes) return std::nullopt;
  std::unordered_map<document::NodeId, std::size_t> places;
  for (const document::NodeId id : opened->nodes) places.emplace(id, places.size());
  std::vector<std::optional<std::size_t>> origins;
  for (const document::NodeId id : *nodes) {
    const auto known = places.find(id);
    origins.push_back(known == places.end() ? std::nullopt : std::optional(known->second));
  }
  return query::rewriteChat(opened->text, document::toTree(document, document.root()), origins);
}

bool isQueryPath(const QString& path) {
  return queryFormOfPath(path).has_value();
}

bool hasOwnSettings(const document::RunSettings& settings) {
  document::RunSettings expected;
  expected.model = settings.model;
  expected.adapter = settings.adapter;
  expected.chatTemplate = settings.chatTemplate;
  expected.templateVariables = settings.templateVariables;
  expected.context = settings.context;
  expected.policy = settings.policy;
  return settings != expected || settings.policy != workbench::usualPolicyOf(settings);
}

QStringList lostWhenSavedAsQuery(const document::Document& document) {
  QStringList lost;
  const std::vector<document::NodeId> ids = document.ids();
  const auto any = [&](auto predicate) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](document::NodeId id) { return predicate(document.at(id)); });
  };
  const std::size_t tops = document.tops().size();
  if (tops > 1)
    lost += tops == 2 ? tr("a tree that is not part of the query")
                      : tr("%1 trees that are not part of the query").arg(tops - 1);
  if (any([](const document::DocumentNode& node) {
        return std::find(node.children.begin(), node.children.end(), document::kNoNode) !=
               node.children.end();
      })) {
    lost += tr("missing inputs, which become an empty seq");
  }
  if (any([](const document::DocumentNode& node) { return !node.name.empty(); }))
    lost += tr("names of nodes");
  if (any([](const document::DocumentNode& node) { return node.position.has_value(); }))
    lost += tr("positions of nodes");
  if (any([](const document::DocumentNode& node) { return !node.bends.empty(); }))
    lost += tr("reroute points of wires");
  if (any([](const document::DocumentNode& node) { return node.collapsed; }))
    lost += tr("which nodes are collapsed");
  if (any([](const document::DocumentNode& node) { return node.muted; })) lost += tr("which nodes are muted");
  if (any([](const document::DocumentNode& node) { return node.isFrozen(); })) lost += tr("frozen answers");
  if (!document.frames.empty()) lost += tr("frames");
  if (!document.notes.empty()) lost += tr("notes");
  if (!document.parameters.empty()) lost += tr("values of parameters");
  if (!document.declarations.empty()) lost += tr("types, defaults and descriptions of parameters");
  if (hasOwnSettings(document.settings)) lost += tr("cache and run settings");
  return lost;
}

QString whyNotWritable(const QString& path) {
  const QFileInfo file(path);
  const QString name = file.fileName();
  const QString folder = QDir::toNativeSeparators(file.absolutePath());
  if (file.isDir()) return tr("“%1” is a folder.").arg(name);
  if (!QFileInfo::exists(file.absolutePath())) return tr("The folder %1 no longer exists.").arg(folder);
  // WriteUser does not count, because an administrator always has it.
  const QFile::Permissions writers = QFile::WriteOwner | QFile::WriteGroup | QFile::WriteOther;
  if (file.exists() && (file.permissions() & writers) == 0) return tr("“%1” is read-only.").arg(name);
  if (file.exists() && !file.isWritable()) return tr("You do not have permission to change “%1”.").arg(name);
  if (!QFileInfo(file.absolutePath()).isWritable())
    return tr("You do not have permission to write to the folder %1.").arg(folder);
  const QStorageInfo storage(file.absolutePath());
  if (storage.isValid() && storage.isReadOnly()) return tr("The drive of %1 is read-only.").arg(folder);
  if (storage.isValid() && storage.bytesAvailable() == 0) return tr("The drive of %1 is full.").arg(folder);
  return {};
}

namespace {

constexpr QLatin1String kKey("recentFiles");

}  // namespace

QStringList RecentFiles::paths() const {
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(QString());
  paths.removeDuplicates();
  std::stable_partition(paths.begin(), paths.end(),
                        [](const QString& path) { return QFileInfo::exists(path); });
  return paths.mid(0, kMostRecentFiles);
}

void RecentFiles::add(const QString& path) {
  if (path.isEmpty()) return;
  const QString absolute = QFileInfo(path).absoluteFilePath();
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(absolute);
  paths.prepend(absolute);
  m_settings->setValue(kKey, QStringList(paths.mid(0, kMostRecentFiles)));
}

void RecentFiles::remove(const QString& path) {
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(QFileInfo(path).absoluteFilePath());
  m_settings->setValue(kKey, paths);
}

void RecentFiles::clear() {
  m_settings->remove(kKey);
}

namespace {

constexpr const char* kSignature = "\x89PNG\r\n\x1a\n";
constexpr qsizetype kSignatureSize = 8;
constexpr qsizetype kChunkFrame = 12;  ///< length, type and checksum of a chunk, 4 bytes each
constexpr const char* kKeyword = "spanscope:document";
constexpr QLatin1String kSpace("urn:spanscope:document");
constexpr QLatin1String kElement("document");

/// The checksum that PNG requires, over the type and the data of a chunk.
std::uint32_t checksumOf(const QByteArray& bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    constexpr std::uint32_t kPolynomial = 0xEDB88320U;
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? kPolynomial ^ (value >> 1U) : value >> 1U;
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char byte : bytes) sum = table[(sum ^ static_cast<std::uint8_t>(byte)) & 0xFFU] ^ (sum >> 8U);
  return ~sum;
}

QByteArray bigEndian(std::uint32_t value) {
  QByteArray bytes(4, '\0');
  qToBigEndian(value, bytes.data());
  return bytes;
}

bool isPng(const QByteArray& bytes) {
  return bytes.startsWith(QByteArray(kSignature, kSignatureSize));
}

bool isSvg(const QByteArray& bytes) {
  const QByteArray begin = bytes.left(1024).trimmed();
  return begin.startsWith("<svg") || (begin.startsWith("<?xml") && begin.contains("<svg"));
}

Error noDocument(std::string found) {
  return {.file = {},
          .place = {},
          .found = std::move(found),
          .expected = "a picture that was exported with its query"};
}

QByteArray intoPng(const QByteArray& picture, std::string_view text) {
  // Zeros for "not compressed" and for two empty texts, language and translated keyword.
  QByteArray data = QByteArray("iTXt") + kKeyword;
  data.append(5, '\0');
  data.append(text.data(), static_cast<qsizetype>(text.size()));
  if (data.size() > std::numeric_limits<qint32>::max()) return picture;
  const QByteArray chunk =
      bigEndian(static_cast<std::uint32_t>(data.size() - 4)) + data + bigEndian(checksumOf(data));
  // Inserts the chunk before the last chunk, which is empty.
  QByteArray result = picture;
  result.insert(picture.size() - kChunkFrame, chunk);
  return result;
}

std::variant<std::string, Error> fromPng(const QByteArray& picture) {
  const QByteArray key = QByteArray(kKeyword) + '\0';
  qsizetype at = kSignatureSize;
  while (picture.size() - at >= kChunkFrame) {
    const auto length = qFromBigEndian<std::uint32_t>(picture.constData() + at);
    if (length > static_cast<std::uint64_t>(picture.size() - at - kChunkFrame))
      return noDocument("an incomplete PNG picture");
    const auto size = static_cast<qsizetype>(length);
    const QByteArray type = picture.mid(at + 4, 4);
    if (type == "iTXt" && picture.mid(at + 8, std::min(size, key.size())) == key) {
      const QByteArray data = picture.mid(at + 4, 4 + size);
      const auto checksum = qFromBigEndian<std::uint32_t>(picture.constData() + at + 8 + size);
      // Skips the flag and the method of compression, then the language and the translated keyword.
      const qsizetype language = 4 + key.size() + 2;
      const qsizetype translated = data.indexOf('\0', language) + 1;
      const qsizetype text = translated <= 0 ? 0 : data.indexOf('\0', translated) + 1;
      if (checksumOf(data) != checksum || text <= 0) return noDocument("a picture with a damaged query");
      if (data.at(4 + key.size()) != 0)
        return noDocument("a picture whose query another program has compressed");
      return std::string(data.constData() + text, static_cast<std::size_t>(data.size() - text));
    }
    if (type == "IEND") break;
    at += kChunkFrame + size;
  }
  return noDocument("a PNG picture without a query");
}

QByteArray intoSvg(const QByteArray& picture, std::string_view text) {
  const qsizetype root = picture.indexOf("<svg");
  const qsizetype end = root < 0 ? -1 : picture.indexOf('>', root);
  if (end < 0) return picture;
  QString shown = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
  // JSON can contain these two characters unescaped, but XML cannot.
  shown.replace(QChar(0xFFFE), QStringLiteral("\\ufffe")).replace(QChar(0xFFFF), QStringLiteral("\\uffff"));
  QByteArray metadata;
  QXmlStreamWriter writer(&metadata);
  writer.writeStartElement(QStringLiteral("metadata"));
  writer.writeStartElement(QStringLiteral("spanscope:document"));
  writer.writeAttribute(QStringLiteral("xmlns:spanscope"), kSpace);
  writer.writeCharacters(shown);
  writer.writeEndElement();
  writer.writeEndElement();
  QByteArray result = picture;
  result.insert(end + 1, '\n' + metadata);
  return result;
}

std::variant<std::string, Error> fromSvg(const QByteArray& picture) {
  QXmlStreamReader reader(picture);
  while (!reader.atEnd()) {
    if (reader.readNext() != QXmlStreamReader::StartElement || reader.namespaceUri() != kSpace ||
        reader.name() != kElement)
      continue;
    const QString text = reader.readElementText();
    if (reader.hasError()) break;
    return text.toStdString();
  }
  if (reader.hasError()) return noDocument("a damaged SVG drawing: " + reader.errorString().toStdString());
  return noDocument("an SVG drawing without a query");
}

}  // namespace

QByteArray withDocument(const QByteArray& picture, std::string_view documentText) {
  if (isPng(picture)) return intoPng(picture, documentText);
  return isSvg(picture) ? intoSvg(picture, documentText) : picture;
}

std::variant<std::string, Error> documentOfPicture(const QByteArray& picture) {
  if (isPng(picture)) return fromPng(picture);
  return fromSvg(picture);
}

bool isPicture(const QByteArray& bytes) {
  return isPng(bytes) || isSvg(bytes);
}

bool isPicturePath(const QString& path) {
  return path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive) ||
         path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
}

}  // namespace spanscope::ui
