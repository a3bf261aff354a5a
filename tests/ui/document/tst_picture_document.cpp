// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that carry their document, and pictures that only look as if they did.
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"

#include <QBuffer>
#include <QFile>
#include <QImage>
#include <QTemporaryDir>
#include <QTest>

using namespace spanscope;
using namespace spanscope::document;
using namespace spanscope::ui;

namespace {

QByteArray png() {
  QImage image(20, 10, QImage::Format_RGB32);
  image.fill(Qt::red);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray svg() {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
         "<svg width=\"20mm\" viewBox=\"0 0 20 10\" xmlns=\"http://www.w3.org/2000/svg\" version=\"1.2\">\n"
         "<title>A &lt;title&gt;</title><g><rect width=\"20\" height=\"10\"/></g>\n</svg>\n";
}

std::string textIn(const QByteArray& picture) {
  const auto text = documentOfPicture(picture);
  return std::holds_alternative<std::string>(text) ? std::get<std::string>(text) : std::string();
}

}  // namespace

class TestPictureDocument : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comesBack_data() {
    QTest::addColumn<QByteArray>("picture");
    QTest::newRow("PNG") << png();
    QTest::newRow("SVG") << svg();
  }
  void comesBack() {
    QFETCH(QByteArray, picture);
    const std::string text = "{\"a\": \"< > & ]]> \xE2\x82\xAC \\u0000 'x'\"}\n\n";
    const QByteArray carrying = withDocument(picture, text);
    QVERIFY(carrying.size() > picture.size());
    QCOMPARE(textIn(carrying), text);
    QVERIFY(isPicture(carrying));
    QVERIFY(textIn(picture).empty());
    // The largest text there is.
    const std::string large(std::size_t{8} << 20U, 'x');
    QCOMPARE(textIn(withDocument(picture, large)), large);
  }

  /// Every other program sees the picture that was there.
  void staysAPicture() {
    const QByteArray carrying = withDocument(png(), "{}");
    QCOMPARE(QImage::fromData(carrying, "PNG"), QImage::fromData(png(), "PNG"));
    QVERIFY(!QImage::fromData(carrying, "PNG").isNull());
  }

  void whatXmlMayNotHoldIsEscaped() {
    const std::string text = "\"\xEF\xBF\xBE\xEF\xBF\xBF\"";
    QCOMPARE(textIn(withDocument(svg(), text)), std::string("\"\\ufffe\\uffff\""));
  }

  /// Wherever a picture is cut off or changed, it is read or refused, never more than that.
  void damageIsRefused() {
    const std::string text = "{\"query\": 1}";
    for (const QByteArray& whole : {withDocument(png(), text), withDocument(svg(), text)}) {
      for (qsizetype size = 0; size < whole.size(); ++size) {
        const std::string found = textIn(whole.left(size));
        QVERIFY(found.empty() || found == text);
      }
      for (qsizetype at = 0; at < whole.size(); ++at) {
        QByteArray changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x55);
        textIn(changed);
      }
    }
    // A length that leads out of the file.
    QByteArray hostile = withDocument(png(), text);
    const qsizetype chunk = hostile.indexOf("iTXt") - 4;
    for (int i = 0; i < 4; ++i) hostile[chunk + i] = '\xFF';
    QVERIFY(textIn(hostile).empty());
    QByteArray flipped = withDocument(png(), text);
    flipped[flipped.indexOf("query")] = 'Q';
    const auto refused = documentOfPicture(flipped);
    QVERIFY(QString::fromStdString(std::get<Error>(refused).found).contains(QStringLiteral("damaged")));
  }

  void entitiesAreNotUnfolded() {
    QByteArray text = "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\">";
    for (char name = 'b'; name < 'k'; ++name) {
      text += QByteArray("<!ENTITY ") + name + " \"";
      for (int i = 0; i < 10; ++i) text += QByteArray("&") + static_cast<char>(name - 1) + ';';
      text += "\">";
    }
    text +=
        "]><svg xmlns=\"http://www.w3.org/2000/svg\"><metadata><s:document "
        "xmlns:s=\"urn:spanscope:document\">&j;"
        "</s:document></metadata></svg>";
    QVERIFY(textIn(text).empty());
  }

  void opensAsADocument() {
    const QTemporaryDir folder;
    const OpenedDocument example =
        openDocument(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"));
    QVERIFY(example.document.has_value());
    const std::string text = writeDocument(*example.document);
    for (const char* name : {"picture.png", "picture.svg", "renamed.span"}) {
      const QString path = folder.filePath(QString::fromLatin1(name));
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(withDocument(path.endsWith(QLatin1String("svg")) ? svg() : png(), text));
      file.close();
      const OpenedDocument opened = openDocument(path);
      QVERIFY2(opened.document.has_value(), name);
      QCOMPARE(writeDocument(*opened.document), text);
    }
    const QString plain = folder.filePath(QStringLiteral("plain.png"));
    QFile file(plain);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(png());
    file.close();
    const OpenedDocument none = openDocument(plain);
    QVERIFY(!none.document && none.diagnostics.size() == 1);
    QVERIFY(saveDocument(plain, *example.document).has_value());
    QCOMPARE(QImage(plain).size(), QSize(20, 10));
  }
};

SPANSCOPE_TEST(tst_picture_document, TestPictureDocument, QCoreApplication)
#include "tst_picture_document.moc"
