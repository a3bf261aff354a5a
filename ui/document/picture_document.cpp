// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/picture_document.h"

#include <QXmlStreamReader>
#include <QXmlStreamWriter>
#include <QtEndian>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace spanscope::ui {
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
      if (checksumOf(data) != checksum || text <= 0) return noDocument("a damaged document");
      if (data.at(4 + key.size()) != 0) return noDocument("a document that another program has compressed");
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
