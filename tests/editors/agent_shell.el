;;; What a user of agent-shell does, by the block of docs/editors/emacs.md, in an Emacs without a screen -*- lexical-binding: t -*-

;; ULLAGE_ELISP names the folder with `agent-shell', `acp.el' and `shell-maker', ULLAGE_TEST that of the test, with the block of the page
;; (`block.el'). `told.json' is written there.

(defvar told-questions nil)
(defvar told-errors nil)

(dolist (each '("acp.el" "shell-maker" "agent-shell"))
  (add-to-list 'load-path (expand-file-name each (getenv "ULLAGE_ELISP"))))
(require 'agent-shell)
(require 'json)

(setq agent-shell-session-strategy 'new
      agent-shell-permission-responder-function
      (lambda (permission)
        (let ((options (map-elt permission :options)))
          (push (list (map-elt (map-elt permission :tool-call) :title)
                      (vconcat (mapcar (lambda (option) (map-elt option :kind)) options)))
                told-questions)
          (agent-shell-permission-allow-always permission))))

(defun told-until (what holds)
  (with-timeout (60 (error "%s did not come" what))
    (while (not (funcall holds))
      (accept-process-output nil 0.05))))

(defun told-shown ()
  (buffer-substring-no-properties (point-min) (point-max)))

(condition-case problem
    (progn
      (load (expand-file-name "block.el" (getenv "ULLAGE_TEST")) nil t)
      (let ((shell (car (agent-shell-buffers))) (turns 0))
        (agent-shell-subscribe-to :shell-buffer shell :event 'turn-complete :on-event (lambda (_) (setq turns (1+ turns))))
        (with-current-buffer shell
          (told-until "the session" (lambda () (map-nested-elt (agent-shell--state) '(:session :id))))
          (dolist (text '("set the dip to five" "/context"))
            (let ((before turns))
              (agent-shell-insert :text text :submit t :no-focus t :shell-buffer shell)
              (told-until (concat "an answer to " text) (lambda () (> turns before))))))))
  (error (push (error-message-string problem) told-errors)))

(let ((shell (car (agent-shell-buffers)))
      (coding-system-for-write 'no-conversion)) ; `json-serialize' gives bytes
  (with-temp-file (expand-file-name "told.json" (getenv "ULLAGE_TEST"))
    (insert (json-serialize
             (list :errors (vconcat told-errors)
                   :questions (vconcat (mapcar #'vconcat (reverse told-questions)))
                   :shown (if shell (with-current-buffer shell (told-shown)) ""))))))
