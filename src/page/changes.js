// SPDX-License-Identifier: Apache-2.0
// What the holder of the token may change about a result: its tags, its pin,
// the baseline, and whether it is there at all.  The token goes with each
// request as a header, which no other site can send, and stays in this tab.
'use strict';

function startChanges(form) {
  const path = `/api/runs/${form.dataset.run}`;
  const field = (name) => form.elements[name];
  const say = (text) => { form.querySelector('output').textContent = text; };
  const sayFault = (page) => say(page.error ? page.error.message : 'not done');
  const named = (name) => `?name=${encodeURIComponent(field(name).value)}`;
  const requests = {
    tag: ['POST', () => `${path}/tags${named('tag')}&value=${encodeURIComponent(field('value').value)}`],
    untag: ['DELETE', () => `${path}/tags${named('tag')}`],
    pin: ['POST', () => `${path}/pin`],
    unpin: ['DELETE', () => `${path}/pin`],
    baseline: ['POST', () => `${path}/baseline${named('baseline')}`],
    unbaseline: ['DELETE', () => `${path}/baseline`],
    delete: ['DELETE', () => path],
  };
  const send = (what) => {
    const [method, address] = requests[what];
    const token = field('token').value;
    if (what === 'delete' && field('sure').value !== form.dataset.run) {
      say(`to delete it, type ${form.dataset.run} beside the button`);
      return;
    }
    fetch(address(), {method, headers: {Authorization: `Bearer ${token}`}})
      .then((reply) => reply.json().then((page) => {
        if (!reply.ok) { sayFault(page); return; }
        sessionStorage.setItem('token', token);
        if (what === 'delete') location.assign('/');
        else location.reload();
      }))
      .catch(() => say('the server does not answer, or the token has letters that no header can carry'));
  };
  field('token').value = sessionStorage.getItem('token') || '';
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(event.submitter ? event.submitter.value : 'tag');
  });
  form.hidden = false;
}

addEventListener('DOMContentLoaded', () => {
  const form = document.querySelector('form.changes');
  if (form) startChanges(form);
});
